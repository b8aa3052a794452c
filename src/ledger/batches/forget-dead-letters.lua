-- Forgets the open dead letters of a batch. Reads all that are open.
-- KEYS waiting; ARGV the batch's name and a slash.
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local number, marks = all[i], all[i + 1]
  local left = {}
  for mark in string.gmatch(marks, '[^\n]+') do
    if string.sub(mark, 1, #ARGV[1]) ~= ARGV[1] then left[#left + 1] = mark end
  end
  local text = table.concat(left, '\n')
  if text == '' then redis.call('HDEL', KEYS[1], number)
  elseif text ~= marks then redis.call('HSET', KEYS[1], number, text) end
end

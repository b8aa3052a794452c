-- Counts duplicates of a canceled batch as canceled: they no longer wait for the orders that they repeat.
-- KEYS followers, waiting, finished, identity; ARGV prefix, time, batch, its short number, result, then the numbers.
-- Returns how many were counted.
-- include count-orders.lua
local prefix, at, batch, no, result = unpack(ARGV, 1, 5)
local count, writeTallies = openTallies(prefix, KEYS[2], KEYS[3])
local fresh = 0
for i = 6, #ARGV do
  local number, left = ARGV[i], {}
  for mark in string.gmatch(redis.call('HGET', KEYS[1], number) or '', '[^\t]+') do
    local of, ordinal = string.match(mark, '^(%d+)/(%d+)/')
    if of == no then
      if count(number, batch, ordinal, 'cancelled', false, at) then fresh = fresh + 1 end
      redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result)
    else left[#left + 1] = mark end
  end
  if #left == 0 then redis.call('HDEL', KEYS[1], number)
  else redis.call('HSET', KEYS[1], number, table.concat(left, '\t')) end
end
writeTallies()
if fresh > 0 then redis.call('HINCRBY', KEYS[4], 'sequence', fresh) end
return fresh

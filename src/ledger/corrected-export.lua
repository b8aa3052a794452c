-- Closes dead letters of orders that are shown again as they were accepted, as far as they are older than that showing.
-- KEYS waiting, refresh, batch that shows them
-- ARGV prefix, source whose letters close ('' any), then for each order: number, closing
-- Returns how many were closed.
local no = tonumber(redis.call('HGET', KEYS[3], 'no') or '0')
local closed = 0
for i = 3, #ARGV, 2 do
  local number, closing = ARGV[i], ARGV[i + 1]
  local waiting = redis.call('HGET', KEYS[1], number)
  if waiting then
    local left = {}
    for mark in string.gmatch(waiting, '[^\n]+') do
      local batch, ordinal = string.match(mark, '^(.*)/(%d+)$')
      local key = ARGV[1] .. ':b:' .. (batch or '')
      local of, source = unpack(redis.call('HMGET', key, 'no', 'source'))
      local isOlder = of and tonumber(of) < no
      if isOlder and (ARGV[2] == '' or source == ARGV[2]) then
        if redis.call('HSETNX', key .. ':closed', ordinal, closing) == 1 then
          closed = closed + 1
          redis.call('HINCRBY', key, 'open', -1)
          redis.call('SADD', KEYS[2], batch)
        end
      else left[#left + 1] = mark end
    end
    if #left == 0 then redis.call('HDEL', KEYS[1], number)
    else redis.call('HSET', KEYS[1], number, table.concat(left, '\n')) end
  end
end
return closed

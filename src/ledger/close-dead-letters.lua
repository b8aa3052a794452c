-- Closes dead letters of one order number that a person put aside, and lets the ledger's entry go where it belongs to them.
-- KEYS open, settled bucket, due, doubt, waiting, batch, closed, refresh, identity, deeds
-- ARGV number, batch, version of the entry ('' leaves the entry), compact to keep instead ('' none), closing, a person's operatorAction ('' none),
--      then the fields of the letters in `closed`
-- Returns how many were closed, -1 when the entry was changed meanwhile.
local number = ARGV[1]
if ARGV[3] ~= '' then
  local current = redis.call('GET', KEYS[1])
  if not current or string.match(current, '^%d+') ~= ARGV[3] then return -1 end
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[3], number)
  redis.call('ZREM', KEYS[4], number)
  if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], number, ARGV[4]) end
  redis.call('HINCRBY', KEYS[9], 'sequence', 1)
end

local gone, closed = {}, 0
for i = 7, #ARGV do
  gone[ARGV[2] .. '/' .. ARGV[i]] = true
  if redis.call('HSETNX', KEYS[7], ARGV[i], ARGV[5]) == 1 then closed = closed + 1 end
end
if closed > 0 then
  redis.call('HINCRBY', KEYS[6], 'open', -closed)
  redis.call('SADD', KEYS[8], ARGV[2])
end
local waiting = number ~= '' and redis.call('HGET', KEYS[5], number)
if waiting then
  local left = {}
  for mark in string.gmatch(waiting, '[^\n]+') do
    if not gone[mark] then left[#left + 1] = mark end
  end
  if #left == 0 then redis.call('HDEL', KEYS[5], number)
  else redis.call('HSET', KEYS[5], number, table.concat(left, '\n')) end
end
if number ~= '' and ARGV[6] ~= '' then
  redis.call('RPUSH', KEYS[10], ARGV[6])
  redis.call('LTRIM', KEYS[10], -20, -1)
end
return closed

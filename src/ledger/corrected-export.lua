-- Closes the dead letters of orders that a batch shows as they were accepted, where they are older than that batch.
-- KEYS waiting, batch that shows them
-- ARGV prefix, source whose dead letters close ('' any), then for each order: number, closing
-- Returns how many were closed.
-- include close-open-dead-letters.lua
local prefix, source = ARGV[1], ARGV[2]
local no = tonumber(redis.call('HGET', KEYS[2], 'no') or '0')
local function isOlder(batch)
  local of, from = unpack(redis.call('HMGET', prefix .. ':b:' .. batch, 'no', 'source'))
  return of and tonumber(of) < no and (source == '' or from == source)
end
local closed = 0
for i = 3, #ARGV, 2 do closed = closed + closeLettersOf(prefix, KEYS[1], ARGV[i], ARGV[i + 1], isOlder) end
return closed

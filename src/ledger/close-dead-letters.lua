-- Closes a dead letter as a person decided, and drops the ledger's entry where it belongs to it.
-- KEYS open, settled bucket, due, doubt, waiting, identity, operator actions
-- ARGV prefix, number, its key, batch, version of the entry ('' leaves the entry), compact to keep instead ('' none), closing,
--      operator action ('' none), version of the number's entry that the decision depends on (0: there is none, '': it
--      does not matter), ordinal
-- Returns how many were closed, -1 when the entry was changed meanwhile.
-- include close-open-dead-letters.lua
local prefix, number, orderKey, batch, version, compact, closing, action, seen, ordinal = unpack(ARGV)
local current = string.match(redis.call('GET', KEYS[1]) or '0', '^%d+')
if seen ~= '' and current ~= seen then return -1 end
if version ~= '' then
  if current ~= version then return -1 end
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[3], orderKey)
  redis.call('ZREM', KEYS[4], orderKey)
  if compact ~= '' then redis.call('HSET', KEYS[2], orderKey, compact) end
  redis.call('HINCRBY', KEYS[6], 'sequence', 1)
end

if number == '' then return closeLetter(prefix, batch, ordinal, closing) end
local closed = closeLettersOf(prefix, KEYS[5], number, closing, function(of, at) return of == batch and at == ordinal end)
if action ~= '' then
  redis.call('RPUSH', KEYS[7], action)
  redis.call('LTRIM', KEYS[7], -20, -1)
end
return closed

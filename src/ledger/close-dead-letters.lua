-- Closes a dead letter as a person decided, and drops the ledger's entry where it belongs to it.
-- KEYS open, settled bucket, due, doubt, waiting, identity, operator actions; ARGV prefix, and a JSON object whose texts are
-- stored as they are. Where a name is absent:
--   batch, ordinal  of the dead letter; never absent
--   closing         how it ends; never absent
--   number, key     of its order; it has none
--   seen            the version of the number's entry that the decision depends on, 0 for none; it does not matter
--   version         of the entry that goes with it; none does
--   compact         what stays of that entry; nothing
--   operatorAction  joins the history of the order; none
-- Returns how many were closed, -1 when the entry was changed meanwhile.
-- include close-open-dead-letters.lua
local prefix, asked = ARGV[1], cjson.decode(ARGV[2])
local current = tonumber(string.match(redis.call('GET', KEYS[1]) or '0', '^%d+'))
if asked.seen and current ~= asked.seen then return -1 end
if asked.version then
  if current ~= asked.version then return -1 end
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[3], asked.key)
  redis.call('ZREM', KEYS[4], asked.key)
  if asked.compact then redis.call('HSET', KEYS[2], asked.key, asked.compact) end
  redis.call('HINCRBY', KEYS[6], 'sequence', 1)
end

if not asked.number then return closeLetter(prefix, asked.batch, asked.ordinal, asked.closing) end
local function isIt(batch, ordinal) return batch == asked.batch and ordinal == asked.ordinal end
local closed = closeLettersOf(prefix, KEYS[5], asked.key, asked.closing, isIt)
if asked.operatorAction then
  redis.call('RPUSH', KEYS[7], asked.operatorAction)
  redis.call('LTRIM', KEYS[7], -20, -1)
end
return closed

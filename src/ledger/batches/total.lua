-- Every order of the batch is admitted. KEYS batch, finished, identity, the caller's own count; ARGV a JSON object:
--   batch, total  its name, and how many orders its file has
--   since         the epoch in which the caller began to read, '' where that is not asked
--   sequence      that the caller saw
--   made          how many changes the caller made; absent: not counted
--   unreadable    why the rest of the file cannot be read; absent: it was read to its end
-- Returns -1 where the ledger forgot something since then: the orders that were admitted before are admitted again.
-- A batch that is done stays done, also when a reader that was suspended says so again.
-- include finish-batch.lua
local epoch, sequence = unpack(redis.call('HMGET', KEYS[3], 'epoch', 'sequence'))
local asked = cjson.decode(ARGV[1])
local made = asked.made or 0
local isBehind = tonumber(sequence or '0') < asked.sequence or tonumber(redis.call('GET', KEYS[4]) or '0') < made
if asked.since ~= '' and (epoch ~= asked.since or isBehind) then return -1 end
if redis.call('HGET', KEYS[1], 'state') == 'done' then return tonumber(redis.call('HGET', KEYS[1], 'counted') or '0') end
redis.call('HSET', KEYS[1], 'total', asked.total, 'state', 'open')
redis.call('HDEL', KEYS[1], 'unsettled')
if asked.unreadable then redis.call('HSET', KEYS[1], 'unreadable', asked.unreadable) end
local counted = tonumber(redis.call('HGET', KEYS[1], 'counted') or '0')
finishBatch(KEYS[2], asked.batch, counted, asked.total)
return counted

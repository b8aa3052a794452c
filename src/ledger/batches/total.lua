-- Every order of the batch is admitted. KEYS batch, finished, identity, the caller's own count; ARGV batch name, total, epoch
-- in which the caller began to read ('' not asked), the sequence that it saw, how many changes it made ('' not counted), and
-- why the rest of the file cannot be read ('' it was read to its end).
-- Returns -1 where the ledger forgot something since then: the orders that were admitted before are admitted again.
-- A batch that is done stays done, also when a reader that was suspended says so again.
-- include finish-batch.lua
local epoch, sequence = unpack(redis.call('HMGET', KEYS[3], 'epoch', 'sequence'))
local made = ARGV[5] ~= '' and tonumber(ARGV[5]) or 0
local isBehind = tonumber(sequence or '0') < tonumber(ARGV[4]) or tonumber(redis.call('GET', KEYS[4]) or '0') < made
if ARGV[3] ~= '' and (epoch ~= ARGV[3] or isBehind) then return -1 end
if redis.call('HGET', KEYS[1], 'state') == 'done' then return tonumber(redis.call('HGET', KEYS[1], 'counted') or '0') end
redis.call('HSET', KEYS[1], 'total', ARGV[2], 'state', 'open')
redis.call('HDEL', KEYS[1], 'unsettled')
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'unreadable', ARGV[6]) end
local counted = tonumber(redis.call('HGET', KEYS[1], 'counted') or '0')
finishBatch(KEYS[2], ARGV[1], counted, ARGV[2])
return counted

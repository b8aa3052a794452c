-- Every order of the batch is admitted. KEYS batch, finished; ARGV batch name, total.
-- A batch that is done stays done, also when a reader that was suspended says so again.
-- include finish-batch.lua
if redis.call('HGET', KEYS[1], 'state') == 'done' then return tonumber(redis.call('HGET', KEYS[1], 'counted') or '0') end
redis.call('HSET', KEYS[1], 'total', ARGV[2], 'state', 'open')
local counted = tonumber(redis.call('HGET', KEYS[1], 'counted') or '0')
finishBatch(KEYS[2], ARGV[1], counted, ARGV[2])
return counted

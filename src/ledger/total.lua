-- Every order of the batch is admitted. KEYS batch, finished; ARGV batch name, total.
redis.call('HSET', KEYS[1], 'total', ARGV[2], 'state', 'open')
local counted = tonumber(redis.call('HGET', KEYS[1], 'counted') or '0')
if counted >= tonumber(ARGV[2]) then redis.call('SADD', KEYS[2], ARGV[1]) end
return counted

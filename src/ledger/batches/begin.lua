-- Makes a batch known, once: a reader that was suspended, or a second one, finds it as it is.
-- KEYS batch, names, batches, active, changes; ARGV batch name, claimed at, then field and value pairs.
-- Returns 1 when it was new.
if redis.call('HEXISTS', KEYS[1], 'batch') == 1 then return 0 end
local no = redis.call('HINCRBY', KEYS[2], 'last', 1)
redis.call('HSET', KEYS[1], 'no', no, unpack(ARGV, 3))
redis.call('HSET', KEYS[2], no, ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
redis.call('SADD', KEYS[4], ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 20000, '*', 'batch', ARGV[1])
return 1

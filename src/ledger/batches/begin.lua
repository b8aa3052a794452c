-- Makes a batch known, once: a reader that was suspended, or a second one, finds it as it is.
-- KEYS batch, counter, names, batches, active, changes; ARGV batch name, claimed at, then field and value pairs.
-- Returns 1 when it was new.
if redis.call('HEXISTS', KEYS[1], 'batch') == 1 then return 0 end
local no = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'no', no, unpack(ARGV, 3))
redis.call('HSET', KEYS[3], no, ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
redis.call('SADD', KEYS[5], ARGV[1])
redis.call('XADD', KEYS[6], 'MAXLEN', '~', 20000, '*', 'batch', ARGV[1])
return 1

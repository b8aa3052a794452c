-- Makes a settled batch known again, once. Its dead letters are kept before: from this step on, they count as open.
-- KEYS batch, counter, names, batches, contents, unreadable, changes
-- ARGV batch name, claimed at, how many of its dead letters are open, field of its content ('' none), source and name of an
-- unreadable file ('' none), then field and value pairs. Returns 1 when it was not known.
if redis.call('HEXISTS', KEYS[1], 'batch') == 1 then return 0 end
local no = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'no', no, unpack(ARGV, 6))
-- One that was closed since it is kept was subtracted already.
redis.call('HINCRBY', KEYS[1], 'open', ARGV[3])
redis.call('HSET', KEYS[3], no, ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
if ARGV[4] ~= '' then redis.call('HSETNX', KEYS[5], ARGV[4], ARGV[1]) end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[6], ARGV[1], ARGV[5]) end
redis.call('XADD', KEYS[7], 'MAXLEN', '~', 20000, '*', 'batch', ARGV[1])
return 1

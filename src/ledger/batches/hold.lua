-- Holds a batch: its field and the set of held batches change in one step, so that a release at the same time leaves neither.
-- KEYS batch, held, changes; ARGV batch name, `released` as the caller read it ('' none), the hold, what its refusals say.
-- Returns 1 when it is held now, 0 when it was, -1 when it is done or was released since: the caller decides again.
local state, released = unpack(redis.call('HMGET', KEYS[1], 'state', 'released'))
if state == 'done' or (released or '') ~= ARGV[2] then return -1 end
local fresh = redis.call('HSETNX', KEYS[1], 'held', ARGV[3])
if fresh == 1 then redis.call('HSET', KEYS[1], 'heldFor', ARGV[4]) end
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('XADD', KEYS[3], 'MAXLEN', '~', 20000, '*', 'batch', ARGV[1])
return fresh

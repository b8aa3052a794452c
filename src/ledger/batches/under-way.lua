-- The batches that are not done and the orders that wait, of one moment. A script, because a Redis that is full refuses every
-- transaction, also one that only reads. KEYS active, due, doubt; ARGV prefix, how many orders are wanted of each set.
-- Returns the fields of each batch; then of each set how many orders it has, and the first of them with their scores.
-- Key names are those of keys.ts.
local prefix, most = ARGV[1], tonumber(ARGV[2])
local batches = {}
for _, batch in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  batches[#batches + 1] = redis.call('HGETALL', prefix .. ':b:' .. batch)
end
local function first(set)
  return most > 0 and redis.call('ZRANGE', set, 0, most - 1, 'WITHSCORES') or {}
end
return { batches, redis.call('ZCARD', KEYS[2]), first(KEYS[2]), redis.call('ZCARD', KEYS[3]), first(KEYS[3]) }

-- Counts orders that end at admission, without a change of the ledger.
-- KEYS batch, counted, results, finished, waiting
-- ARGV time, batch name, then for each order: ordinal, outcome, result ('' none), number of its dead letter ('' none)
-- Returns how many were new.
local fresh = 0
for i = 3, #ARGV, 4 do
  local ordinal, outcome, result, number = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if redis.call('SETBIT', KEYS[2], ordinal, 1) == 0 then
    fresh = fresh + 1
    redis.call('HINCRBY', KEYS[1], 'n:' .. outcome, 1)
    if result ~= '' then redis.call('HSET', KEYS[3], ordinal, result) end
    if outcome == 'invalid' or outcome == 'conflict' or outcome == 'refused' or outcome == 'failed'
      or outcome == 'inDoubt' then
      redis.call('HINCRBY', KEYS[1], 'open', 1)
      if number ~= '' then
        local waiting = redis.call('HGET', KEYS[5], number)
        local mark = ARGV[2] .. '/' .. ordinal
        redis.call('HSET', KEYS[5], number, waiting and (waiting .. '\n' .. mark) or mark)
      end
    end
  end
end
if fresh > 0 then
  local counted = redis.call('HINCRBY', KEYS[1], 'counted', fresh)
  redis.call('HSET', KEYS[1], 'lastAt', ARGV[1])
  local total = redis.call('HGET', KEYS[1], 'total')
  if total and counted >= tonumber(total) then redis.call('SADD', KEYS[4], ARGV[2]) end
end
return fresh

-- The proof that the API's list is complete, while one order of a new ledger waits to be shown.
-- KEYS list proof, list shown, breaker, pauses
-- ARGV verb, now, the order with the turn ('' none), then for `looked`: when the list is read next,
--      and why delivery waits from now on, as the hold of the breaker ('' as before).
-- `passed`: the list is complete. Returns 0 where another order has the turn meanwhile.
-- include end-hold.lua
local verb, now, turn = ARGV[1], ARGV[2], ARGV[3]
local proof, has = unpack(redis.call('HMGET', KEYS[1], 'proof', 'turn'))
if proof ~= 'due' or (has or '') ~= turn then return 0 end

if verb == 'looked' then
  redis.call('HINCRBY', KEYS[1], 'reads', 1)
  redis.call('HSET', KEYS[1], 'nextAt', ARGV[4])
  if ARGV[5] == '' then return 1 end
  local new = cjson.decode(ARGV[5])
  local text = redis.call('HGET', KEYS[3], 'hold:list')
  local hold = text and cjson.decode(text)
  if hold and hold.code == new.code then new.since = hold.since end
  redis.call('HSET', KEYS[3], 'hold:list', cjson.encode(new))
  return 1
end

redis.call('HDEL', KEYS[1], 'proof', 'turn', 'before', 'reads', 'nextAt', 'expect')
redis.call('DEL', KEYS[2])
-- One order tries first, as after every hold.
if endHold(KEYS[3], KEYS[4], 'hold:list', now) then redis.call('HSET', KEYS[3], 'trialAt', now) end
return 1

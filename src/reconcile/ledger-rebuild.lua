-- Ends a rebuild, or puts it off. A request of another epoch of the ledger stays as it is: it needs a list of its own.
-- KEYS rebuild, breaker, pauses; ARGV verb, epoch, hold's field, now, then for `later`: quick tries, their pause, the usual
-- pause, and what the hold says from now on ('' as before). Returns 0 when the request was not of that epoch.
if (redis.call('HGET', KEYS[1], 'epoch') or '') ~= ARGV[2] then return 0 end
local hold = redis.call('HGET', KEYS[2], ARGV[3])
hold = hold and cjson.decode(hold)

if ARGV[1] == 'end' then
  redis.call('DEL', KEYS[1])
  if not hold then return 1 end
  redis.call('HDEL', KEYS[2], ARGV[3])
  local pause = { code = hold.code, reason = hold.reason, from = hold.since, to = tonumber(ARGV[4]) }
  redis.call('LPUSH', KEYS[3], cjson.encode(pause))
  redis.call('LTRIM', KEYS[3], 0, 199)
  return 1
end

local failed = redis.call('HINCRBY', KEYS[1], 'failed', 1)
local pause = failed < tonumber(ARGV[5]) and ARGV[6] or ARGV[7]
redis.call('HSET', KEYS[1], 'notBefore', tonumber(ARGV[4]) + tonumber(pause))
if hold and ARGV[8] ~= '' then
  hold.reason = ARGV[8]
  redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(hold))
end
return 1

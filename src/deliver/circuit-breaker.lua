-- The breaker of one environment. KEYS breaker, pauses; ARGV verb, then its values. All times are milliseconds.
local verb = ARGV[1]
if verb == 'open' then
  local was = redis.call('HMGET', KEYS[1], 'code', 'reason', 'since')
  if not was[3] then return 0 end
  local pause = { code = was[1], reason = was[2], from = tonumber(was[3]), to = tonumber(ARGV[2]) }
  redis.call('LPUSH', KEYS[2], cjson.encode(pause))
  redis.call('LTRIM', KEYS[2], 0, 199)
  redis.call('HDEL', KEYS[1], 'code', 'reason', 'since', 'probeAt', 'wait')
  return 1
end
if verb == 'slow' then
  local before = tonumber(redis.call('HGET', KEYS[1], 'slowUntil') or '0')
  if tonumber(ARGV[2]) > before then redis.call('HSET', KEYS[1], 'slowUntil', ARGV[2]) end
  return 1
end
local now, initial, max = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if verb == 'close' then
  if redis.call('HSETNX', KEYS[1], 'since', now) == 1 then
    redis.call('HSET', KEYS[1], 'probeAt', now + initial, 'wait', initial)
  end
  redis.call('HSET', KEYS[1], 'code', ARGV[5], 'reason', ARGV[6])
  return 1
end
-- probe: one caller wins, and the next chance comes twice as late
local at = redis.call('HGET', KEYS[1], 'probeAt')
if not at or now < tonumber(at) then return 0 end
local wait = math.min(max, 2 * tonumber(redis.call('HGET', KEYS[1], 'wait') or initial))
redis.call('HSET', KEYS[1], 'probeAt', now + wait, 'wait', wait)
return 1

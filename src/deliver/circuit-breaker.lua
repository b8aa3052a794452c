-- The circuit breaker of one environment. KEYS breaker, pauses; ARGV verb, now, then the verb's values. All times are milliseconds.
local verb, now = ARGV[1], tonumber(ARGV[2])
if verb == 'reset' then
  local was = redis.call('HMGET', KEYS[1], 'code', 'reason', 'since')
  if not was[3] then return 0 end
  local pause = { code = was[1], reason = was[2], from = tonumber(was[3]), to = now }
  redis.call('LPUSH', KEYS[2], cjson.encode(pause))
  redis.call('LTRIM', KEYS[2], 0, 199)
  redis.call('HDEL', KEYS[1], 'code', 'reason', 'since', 'probeAt', 'wait')
  return 1
end
if verb == 'slow' then
  local before = tonumber(redis.call('HGET', KEYS[1], 'slowUntil') or '0')
  if tonumber(ARGV[3]) > before then redis.call('HSET', KEYS[1], 'slowUntil', ARGV[3]) end
  return 1
end
if verb == 'lift' then
  redis.call('HDEL', KEYS[1], 'slowUntil')
  if redis.call('HEXISTS', KEYS[1], 'since') == 0 then return 0 end
  redis.call('HSET', KEYS[1], 'probeAt', now, 'wait', ARGV[3])
  return 1
end
if verb == 'trip' then
  local wait, code, reason = tonumber(ARGV[3]), ARGV[4], ARGV[5]
  if redis.call('HSETNX', KEYS[1], 'since', now) == 1 then
    redis.call('HSET', KEYS[1], 'probeAt', now + wait, 'wait', wait)
  elseif now + wait > tonumber(redis.call('HGET', KEYS[1], 'probeAt') or '0') then
    redis.call('HSET', KEYS[1], 'probeAt', now + wait)
  end
  redis.call('HSET', KEYS[1], 'code', code, 'reason', reason)
  return 1
end
-- probe: one caller wins, and the next chance comes twice as late. The curve of core/backoff, computed here because all daemons
-- share the wait: a value computed by one of them could be outdated when it arrives.
local initial, max = tonumber(ARGV[3]), tonumber(ARGV[4])
local at = redis.call('HGET', KEYS[1], 'probeAt')
if not at or now < tonumber(at) then return 0 end
local wait = math.min(max, 2 * math.min(max, tonumber(redis.call('HGET', KEYS[1], 'wait') or initial)))
redis.call('HSET', KEYS[1], 'probeAt', now + wait, 'wait', wait)
return 1

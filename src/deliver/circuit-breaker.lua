-- The circuit breaker of one environment. KEYS breaker, pauses; ARGV verb, now, then the verb's values. All times are milliseconds.
-- `trialAt`: after a slow-down or a hold one order at a time tries, the next one then, until one is answered.
local verb, now = ARGV[1], tonumber(ARGV[2])
-- At most four tries a second, whatever the configuration says.
local LEAST = 250
if verb == 'reset' then
  redis.call('HDEL', KEYS[1], 'slowUntil', 'trialAt', 'beganAt')
  local was = redis.call('HMGET', KEYS[1], 'code', 'reason', 'since', 'first')
  if not was[3] then return 0 end
  local pause = { code = was[1], reason = was[2], from = tonumber(was[3]), to = now }
  if was[4] and was[4] ~= was[2] then pause.firstReason = was[4] end
  redis.call('LPUSH', KEYS[2], cjson.encode(pause))
  redis.call('LTRIM', KEYS[2], 0, 199)
  redis.call('HDEL', KEYS[1], 'code', 'reason', 'since', 'first', 'seenAt', 'probeAt', 'wait', 'remedy')
  return 1
end
if verb == 'slow' then
  local before = tonumber(redis.call('HGET', KEYS[1], 'slowUntil') or '0')
  local later = math.max(before, tonumber(ARGV[3]))
  redis.call('HSET', KEYS[1], 'slowUntil', later, 'trialAt', later)
  return 1
end
if verb == 'try' then
  redis.call('HSET', KEYS[1], 'trialAt', now)
  return 1
end
-- Tries that waited for the same token or connection begin one by one, too.
if verb == 'begin' then
  local last = tonumber(redis.call('HGET', KEYS[1], 'beganAt') or '0')
  if now >= last and now < last + LEAST then return 0 end
  redis.call('HSET', KEYS[1], 'beganAt', now)
  return 1
end
-- An order that won a try turned out to need none: the next one tries at once.
if verb == 'unused' then
  local wait = tonumber(redis.call('HGET', KEYS[1], 'wait') or '0')
  if redis.call('HEXISTS', KEYS[1], 'since') == 1 then
    redis.call('HSET', KEYS[1], 'probeAt', now, 'wait', math.max(tonumber(ARGV[3]), wait / 2))
  elseif redis.call('HEXISTS', KEYS[1], 'trialAt') == 1 then
    redis.call('HSET', KEYS[1], 'trialAt', now)
  end
  return 1
end
if verb == 'lift' then
  if redis.call('HDEL', KEYS[1], 'slowUntil') == 1 then redis.call('HSET', KEYS[1], 'trialAt', now) end
  if redis.call('HEXISTS', KEYS[1], 'since') == 0 then return 0 end
  redis.call('HSET', KEYS[1], 'probeAt', now, 'wait', ARGV[3])
  return 1
end
if verb == 'trip' then
  local wait, code, reason, remedy = math.max(LEAST, tonumber(ARGV[3])), ARGV[4], ARGV[5], ARGV[6] or ''
  if redis.call('HSETNX', KEYS[1], 'since', now) == 1 then
    redis.call('HSET', KEYS[1], 'probeAt', now + wait, 'wait', wait, 'first', reason)
  elseif now + wait > tonumber(redis.call('HGET', KEYS[1], 'probeAt') or '0') then
    redis.call('HSET', KEYS[1], 'probeAt', now + wait)
  end
  redis.call('HSET', KEYS[1], 'code', code, 'reason', reason, 'seenAt', now, 'remedy', remedy)
  return 1
end
-- A failure that alone would not pause delivery: while it is paused, it is the latest reason. No wait changes.
if verb == 'saw' then
  if redis.call('HEXISTS', KEYS[1], 'since') == 0 then return 0 end
  redis.call('HSET', KEYS[1], 'code', ARGV[3], 'reason', ARGV[4], 'seenAt', now, 'remedy', '')
  return 1
end
-- probe: one caller wins. While the breaker is tripped, the next chance comes twice as late. The curve of core/backoff, computed here because all daemons
-- share the wait: a value computed by one of them could be outdated when it arrives.
local initial, max = tonumber(ARGV[3]), tonumber(ARGV[4])
local at, trialAt = unpack(redis.call('HMGET', KEYS[1], 'probeAt', 'trialAt'))
if not at then
  if not trialAt or now < tonumber(trialAt) then return 0 end
  redis.call('HSET', KEYS[1], 'trialAt', now + LEAST)
  return 1
end
if now < tonumber(at) then return 0 end
local wait = math.min(max, 2 * math.min(max, tonumber(redis.call('HGET', KEYS[1], 'wait') or initial)))
redis.call('HSET', KEYS[1], 'probeAt', now + math.max(LEAST, wait), 'wait', wait)
return 1

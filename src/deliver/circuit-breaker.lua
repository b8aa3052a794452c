-- The circuit breaker of one environment. KEYS breaker, pauses; ARGV a JSON object. All times are milliseconds of ledger time:
--   verb, now      what happens, and when; the other names belong to verbs:
--   until          slow: when orders may be sent again
--   initial, max   lift, unused, probe: the wait to the first try, and the longest
--   wait           trip: to the next try
--   code, facts    trip: why; facts as text
-- `trialAt`: after a slow-down or a hold one order at a time tries, the next one then, until one is answered.
local breaker, pauses = KEYS[1], KEYS[2]
local asked = cjson.decode(ARGV[1])
local verb, now = asked.verb, asked.now
-- At most four tries a second, whatever the configuration says.
local LEAST = 250
if verb == 'reset' then
  redis.call('HDEL', breaker, 'slowUntil', 'trialAt', 'beganAt')
  local code, facts, since = unpack(redis.call('HMGET', breaker, 'code', 'facts', 'since'))
  if not since then return 0 end
  redis.call('LPUSH', pauses, cjson.encode({ code = code, facts = cjson.decode(facts), from = tonumber(since), to = now }))
  redis.call('LTRIM', pauses, 0, 199)
  redis.call('HDEL', breaker, 'code', 'facts', 'since', 'probeAt', 'wait')
  return 1
end
if verb == 'slow' then
  local later = math.max(tonumber(redis.call('HGET', breaker, 'slowUntil') or '0'), asked['until'])
  redis.call('HSET', breaker, 'slowUntil', later, 'trialAt', later)
  return 1
end
if verb == 'try' then
  redis.call('HSET', breaker, 'trialAt', now)
  return 1
end
-- Tries that waited for the same token or connection begin one by one, too.
if verb == 'begin' then
  local last = tonumber(redis.call('HGET', breaker, 'beganAt') or '0')
  if now >= last and now < last + LEAST then return 0 end
  redis.call('HSET', breaker, 'beganAt', now)
  return 1
end
-- An order that won a try turned out to need none: the next one tries at once.
if verb == 'unused' then
  local wait = tonumber(redis.call('HGET', breaker, 'wait') or '0')
  if redis.call('HEXISTS', breaker, 'since') == 1 then
    redis.call('HSET', breaker, 'probeAt', now, 'wait', math.max(asked.initial, wait / 2))
  elseif redis.call('HEXISTS', breaker, 'trialAt') == 1 then
    redis.call('HSET', breaker, 'trialAt', now)
  end
  return 1
end
if verb == 'lift' then
  if redis.call('HDEL', breaker, 'slowUntil') == 1 then redis.call('HSET', breaker, 'trialAt', now) end
  if redis.call('HEXISTS', breaker, 'since') == 0 then return 0 end
  redis.call('HSET', breaker, 'probeAt', now, 'wait', asked.initial)
  return 1
end
if verb == 'trip' then
  local wait = math.max(LEAST, asked.wait)
  if redis.call('HSETNX', breaker, 'since', now) == 1 then
    redis.call('HSET', breaker, 'probeAt', now + wait, 'wait', wait)
  elseif now + wait > tonumber(redis.call('HGET', breaker, 'probeAt') or '0') then
    redis.call('HSET', breaker, 'probeAt', now + wait)
  end
  redis.call('HSET', breaker, 'code', asked.code, 'facts', asked.facts)
  return 1
end
-- probe: one caller wins. While the breaker is tripped, the next chance comes twice as late. The curve of core/backoff, computed here because all daemons
-- share the wait: a value computed by one of them could be outdated when it arrives.
local at, trialAt = unpack(redis.call('HMGET', breaker, 'probeAt', 'trialAt'))
if not at then
  if not trialAt or now < tonumber(trialAt) then return 0 end
  redis.call('HSET', breaker, 'trialAt', now + LEAST)
  return 1
end
if now < tonumber(at) then return 0 end
local wait = math.min(asked.max, 2 * math.min(asked.max, tonumber(redis.call('HGET', breaker, 'wait') or asked.initial)))
redis.call('HSET', breaker, 'probeAt', now + math.max(LEAST, wait), 'wait', wait)
return 1

-- Ends a hold of delivery, and remembers it among the past pauses. False where there is none.
local function endHold(breaker, pauses, field, now)
  local text = redis.call('HGET', breaker, field)
  if not text then return false end
  local hold = cjson.decode(text)
  redis.call('HDEL', breaker, field)
  local pause = { code = hold.code, facts = hold.facts, from = hold.since, to = tonumber(now) }
  redis.call('LPUSH', pauses, cjson.encode(pause))
  redis.call('LTRIM', pauses, 0, 199)
  return true
end

-- Ends a rebuild, postpones it, shows its wait, or says why it lasts. A request of another epoch of the ledger stays: it needs a separate list.
-- KEYS rebuild, breaker, pauses; ARGV verb, epoch, field of the hold, now, then for `end`: the field of the other hold,
-- which an earlier request may have left; for `later`: quick tries, their pause, the first usual pause (each is twice as
-- long as the one before), the longest, the reason of the hold ('' keeps its reason), and the hold to set where there is none;
-- for `show`: that hold; `because` has the reason of the hold in place of now.
-- Returns 0 when the request was not of that epoch.
if (redis.call('HGET', KEYS[1], 'epoch') or '') ~= ARGV[2] then return 0 end
local function holdOf(field)
  local hold = redis.call('HGET', KEYS[2], field)
  return hold and cjson.decode(hold)
end

if ARGV[1] == 'end' then
  redis.call('DEL', KEYS[1])
  for _, field in ipairs({ ARGV[3], ARGV[5] }) do
    local hold = holdOf(field)
    if hold then
      redis.call('HDEL', KEYS[2], field)
      local pause = { code = hold.code, reason = hold.reason, from = hold.since, to = tonumber(ARGV[4]) }
      redis.call('LPUSH', KEYS[3], cjson.encode(pause))
      redis.call('LTRIM', KEYS[3], 0, 199)
    end
  end
  return 1
end

-- In one step: nobody would end a hold without a request.
if ARGV[1] == 'show' then return redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[5]) end

local hold = holdOf(ARGV[3])

if ARGV[1] == 'because' then
  if not hold then return 0 end
  hold.reason = ARGV[4]
  return redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(hold))
end

-- The curve of core/backoff, computed here because all daemons share the count of failures.
local failed = redis.call('HINCRBY', KEYS[1], 'failed', 1)
local usual = math.min(tonumber(ARGV[8]), tonumber(ARGV[7]) * 2 ^ math.min(math.max(failed - tonumber(ARGV[5]), 0), 20))
local pause = failed < tonumber(ARGV[5]) and tonumber(ARGV[6]) or usual
redis.call('HSET', KEYS[1], 'notBefore', string.format('%.0f', tonumber(ARGV[4]) + pause))
if not hold then hold = cjson.decode(ARGV[10]) end
if ARGV[9] ~= '' then hold.reason = ARGV[9] end
redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(hold))
return 1

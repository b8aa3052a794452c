-- Ends a rebuild, postpones it, shows its wait, or says why it lasts. A request of another epoch of the ledger stays: it needs a separate list.
-- KEYS rebuild, breaker, pauses, list proof; ARGV verb, epoch, field of the hold, now, then for `end`: the field of the
-- other hold, which an earlier request may have left, and how many orders the list shows, where an order must prove first
-- that it is complete ('' proves nothing), and what the configuration says in place of a proof ('' nothing); for `later`: quick tries, their pause, the first usual pause (each is twice as
-- long as the one before), the longest, '' or '1' where the hold replaces the one that is there, and the hold;
-- for `show`: that hold; `because` has the reason of the hold in place of now.
-- Returns 0 when the request was not of that epoch.
-- include end-hold.lua
if (redis.call('HGET', KEYS[1], 'epoch') or '') ~= ARGV[2] then return 0 end

if ARGV[1] == 'end' then
  local why = redis.call('HGET', KEYS[1], 'why') or ''
  redis.call('DEL', KEYS[1])
  redis.call('HDEL', KEYS[4], 'turn', 'reads', 'nextAt', 'expect')
  redis.call('HDEL', KEYS[2], 'hold:list')
  redis.call('HDEL', KEYS[4], 'proof', 'before', 'assumed')
  if ARGV[7] ~= '' then redis.call('HSET', KEYS[4], 'assumed', ARGV[7]) end
  if ARGV[6] ~= '' then redis.call('HSET', KEYS[4], 'proof', 'due', 'before', ARGV[6], 'why', why) end
  for _, field in ipairs({ ARGV[3], ARGV[5] }) do endHold(KEYS[2], KEYS[3], field, ARGV[4]) end
  return 1
end

-- In one step: nobody would end a hold without a request.
if ARGV[1] == 'show' then return redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[5]) end

local text = redis.call('HGET', KEYS[2], ARGV[3])
local hold = text and cjson.decode(text)

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
local wanted = cjson.decode(ARGV[10])
if hold and ARGV[9] == '1' and hold.code == wanted.code then wanted.since = hold.since end
if ARGV[9] == '1' or not hold then hold = wanted end
redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(hold))
return 1

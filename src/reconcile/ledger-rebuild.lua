-- Ends a rebuild, postpones it, or shows its wait. A request of another epoch of the ledger stays: it needs a separate list.
-- KEYS rebuild, breaker, pauses, list proof, list shown; ARGV a JSON object:
--   verb, epoch         end | later | show, and of which epoch
--   field, now          of the hold, and ledger time
--   other               end: the field of the other hold, which an earlier request may have left
--   shown               end: how many orders the list shows, where an order must prove first that it is complete; absent: none must
--   assumed             end: what the configuration says in place of a proof; absent: nothing
--   tries, quick        later: so many quick tries, and their pause
--   usual, longest      later: the first pause after them, each is twice as long as the one before, and the longest
--   isNew               later: the hold replaces the one that is there; absent: it does not
--   hold                later, show: its text
-- Returns 0 when the request was not of that epoch.
-- include end-hold.lua
local asked = cjson.decode(ARGV[1])
if (redis.call('HGET', KEYS[1], 'epoch') or '') ~= asked.epoch then return 0 end

if asked.verb == 'end' then
  local why = redis.call('HGET', KEYS[1], 'why') or ''
  redis.call('DEL', KEYS[1])
  redis.call('HDEL', KEYS[4], 'turn', 'reads', 'nextAt', 'expect')
  redis.call('HDEL', KEYS[2], 'hold:list')
  redis.call('HDEL', KEYS[4], 'proof', 'before', 'assumed')
  if asked.assumed then redis.call('HSET', KEYS[4], 'assumed', asked.assumed) end
  if asked.shown then redis.call('HSET', KEYS[4], 'proof', 'due', 'before', asked.shown, 'why', why) else redis.call('DEL', KEYS[5]) end
  for _, field in ipairs({ asked.field, asked.other }) do endHold(KEYS[2], KEYS[3], field, asked.now) end
  return 1
end

-- In one step: nobody would end a hold without a request.
if asked.verb == 'show' then return redis.call('HSETNX', KEYS[2], asked.field, asked.hold) end

local text = redis.call('HGET', KEYS[2], asked.field)
local hold = text and cjson.decode(text)

-- The curve of core/backoff, computed here because all daemons share the count of failures.
local failed = redis.call('HINCRBY', KEYS[1], 'failed', 1)
local usual = math.min(asked.longest, asked.usual * 2 ^ math.min(math.max(failed - asked.tries, 0), 20))
local pause = failed < asked.tries and asked.quick or usual
redis.call('HSET', KEYS[1], 'notBefore', string.format('%.0f', asked.now + pause))
local wanted = cjson.decode(asked.hold)
if hold and asked.isNew and hold.code == wanted.code then wanted.since = hold.since end
if asked.isNew or not hold then hold = wanted end
redis.call('HSET', KEYS[2], asked.field, cjson.encode(hold))
return 1

-- Counts orders of one batch that end without a change of the ledger.
-- KEYS waiting, finished, identity, the caller's own count
-- ARGV prefix, time, batch, the result of an order whose dead letter is not free, source whose dead letters end where a file
--      shows an order as the API has it ('' any), how many changes the caller made ('' does not count them), then for each order
--      a JSON object. Where a name is absent:
--   ordinal, number, key, outcome   of the order; never absent
--   needsPerson     the outcome does, and has an `ending`; it does not
--   result          text of that outcome; none
--   from            dead letters that it corrects (take-letters.lua); none
--   ending          how those end, and one that it replaces; they stay
--   seen            field and text of its content, which stays with its dead letter; none
--   shown           how older dead letters of the number end; they stay
-- Returns the sequence, the caller's own count, and how many were new.
-- include count-orders.lua
-- include take-letters.lua
local prefix, at, batch, outdated, source, made = unpack(ARGV, 1, 6)
local waiting = KEYS[1]
local count, writeTallies = openTallies(prefix, waiting, KEYS[2])
local no = tonumber(redis.call('HGET', prefix .. ':b:' .. batch, 'no') or '0')
local function isOlder(other)
  local of, from = unpack(redis.call('HMGET', prefix .. ':b:' .. other, 'no', 'source'))
  return of and tonumber(of) < no and (source == '' or from == source)
end

local fresh = 0
for i = 7, #ARGV do
  local one = cjson.decode(ARGV[i])
  local number, outcome, result, replacing, letters = one.number, one.outcome, one.result, one.needsPerson and one.ending, one.from or {}
  if not takeLetters(prefix, waiting, letters, batch, one.key, number) then
    letters = {}
    -- One that the API has already is sent by nobody.
    if outcome ~= 'duplicate' then outcome, replacing, result = 'cancelled', false, outdated end
  end
  if count(number, batch, one.ordinal, outcome, replacing, one.key, at) then
    fresh = fresh + 1
    if one.ending then endLetters(prefix, waiting, letters, one.key, one.ending, outcome == 'duplicate') end
    if one.shown then closeLettersOf(prefix, waiting, one.key, one.shown, isOlder) end
    if replacing and one.seen then redis.call('HSET', prefix .. ':seen', unpack(one.seen)) end
    if result then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', one.ordinal, result) end
  end
end
writeTallies()
local sequence = fresh > 0 and redis.call('HINCRBY', KEYS[3], 'sequence', fresh)
  or tonumber(redis.call('HGET', KEYS[3], 'sequence') or '0')
local mine = made ~= '' and tonumber(redis.call('GET', KEYS[4]) or '0') or 0
-- A caller that is behind stays behind until it is compared: what it does meanwhile must not hide what was lost.
if made ~= '' and fresh > 0 and mine >= tonumber(made) then mine = redis.call('INCRBY', KEYS[4], fresh) end
return { sequence, mine, fresh }

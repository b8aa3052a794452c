-- Counts orders of one batch that end without a change of the ledger.
-- KEYS waiting, finished, identity, the caller's own count
-- ARGV prefix, time, batch, the result of an order whose dead letter is not free, how many changes the caller made ('' does not
--      count them), then for each order: ordinal, outcome, needs a person? ('1'), result ('' none), number ('' none), its key,
--      dead letters that it corrects ('' none; see take-letters.lua), their closing
-- Returns the sequence, the caller's own count, and how many were new.
-- include count-orders.lua
-- include note-changes.lua
-- include take-letters.lua
local prefix, at, batch, outdated, made = unpack(ARGV, 1, 5)
local count, writeTallies = openTallies(prefix, KEYS[1], KEYS[2])
local fresh = 0
for i = 6, #ARGV, 8 do
  local ordinal, outcome, needsPerson, result, number, key, from, closing = unpack(ARGV, i, i + 7)
  local letters = from ~= '' and cjson.decode(from) or {}
  if not takeLetters(prefix, letters, batch, key, number) then
    letters = {}
    -- One that the API has already is sent by nobody.
    if outcome ~= 'duplicate' then outcome, needsPerson, result = 'cancelled', '0', outdated end
  end
  if count(number, batch, ordinal, outcome, needsPerson == '1', at) then
    fresh = fresh + 1
    if closing ~= '' then endLetters(prefix, KEYS[1], letters, key, closing, outcome == 'duplicate') end
    if result ~= '' then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result) end
  end
end
writeTallies()
local sequence, mine = noteChanges(KEYS[3], KEYS[4], made, fresh)
return { sequence, mine, fresh }

-- Counts orders of one batch that end without a change of the ledger.
-- KEYS waiting, finished, identity, the caller's own count
-- ARGV prefix, time, batch, how many changes the caller made ('' does not count them), then for each order: ordinal, outcome, needs a person? ('1'), result ('' none), number ('' none)
-- Returns the sequence, the caller's own count, and how many were new.
-- include count-orders.lua
-- include note-changes.lua
local prefix, at, batch, made = unpack(ARGV, 1, 4)
local count, writeTallies = openTallies(prefix, KEYS[1], KEYS[2])
local fresh = 0
for i = 5, #ARGV, 5 do
  local ordinal, outcome, needsPerson, result, number = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  if count(number, batch, ordinal, outcome, needsPerson == '1', at) then
    fresh = fresh + 1
    if result ~= '' then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result) end
  end
end
writeTallies()
local sequence, mine = noteChanges(KEYS[3], KEYS[4], made, fresh)
return { sequence, mine, fresh }

-- Counts orders of one batch that end without a change of the ledger.
-- KEYS waiting, finished
-- ARGV prefix, time, batch, then for each order: ordinal, outcome, needs a person? ('1'), result ('' none), number ('' none)
-- Returns how many were new.
-- include count-orders.lua
local prefix, at, batch = ARGV[1], ARGV[2], ARGV[3]
local count, writeTallies = openTallies(prefix, KEYS[1], KEYS[2])
local fresh = 0
for i = 4, #ARGV, 5 do
  local ordinal, outcome, needsPerson, result, number = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  if count(number, batch, ordinal, outcome, needsPerson == '1', at) then
    fresh = fresh + 1
    if result ~= '' then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result) end
  end
end
writeTallies()
return fresh

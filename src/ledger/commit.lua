-- Commits decided changes of orders, each with the tally of its batch in the same step, and each for itself: one that
-- comes too late leaves the others as they are. What they share is read once before them and written once after them.
-- KEYS due, doubt, waiting, finished, identity, rebuild, the caller's own count, breaker, list proof
-- ARGV prefix, how late an intent may be known, how many changes the caller made ('' does not count them); then for each change
--      the text of the order's entry ('' deletes it) and a JSON object, whose texts are stored as they are. Where a name is absent:
--   number, key     of the order; never absent
--   bucket          of its compact entry; never absent
--   expected        the version that was decided on, 0 for none; never absent
--   batch, ordinal  the order of a file that the change belongs to; never absent
--   due             when its next step is due; it is not
--   doubt           when the API's list may be asked about it; as before
--   noDoubt         it is not in doubt any more; as before
--   compact         what stays of it; nothing
--   outcome, at     what the batch counts, and when; nothing
--   result          text of that outcome; none
--   needsPerson     the outcome does, and has an `ending`; it does not
--   seen            field and text of its content, which stays with its dead letter; none
--   closing         how the open dead letters of the number end; they stay
--   intent          of an attempt that begins: when, and the epoch and sequence that the ledger must have reached; none begins
--   operatorAction  joins the history of the order; none
--   goesOn          only the files that have the order change: its times stay, and no dead letter is taken; it does not
--   also            what other orders of files count with it: a list of { batch, ordinal, outcome, result }; none
--   from            dead letters that it corrects (take-letters.lua), which it takes, or with an outcome ends; none
--   ending          how those end, and one that it replaces; they stay
--   isAdmission     a reader admits the order; none does
--   isAbsent        the API certainly does not have it; it may
--   witness         it is sent again to show how far the list reaches: text of the last one that was, and its own; it is not
-- Returns the caller's own count; then for each change its sequence, 0 when the order or its batch was changed meanwhile, -1 when the
-- ledger was rolled back or the API's list was not read into it yet, -2 when delivery is held, -3 when an intent is late,
-- -4 when a dead letter that it corrects is not free, or another file corrects one of its number.
-- Key names are those of keys.ts.
-- include count-orders.lua
-- include take-letters.lua
local due, doubt, waiting, finished, identity, rebuild, own, breaker, listProof = unpack(KEYS)
local prefix, travels, made = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local TURN = 'hold:list'

local epoch, sequence, shift = unpack(redis.call('HMGET', identity, 'epoch', 'sequence', 'shift'))
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000 - tonumber(shift or '0')
sequence = tonumber(sequence or '0')
local before = sequence
local isIncomplete = redis.call('EXISTS', rebuild) == 1
-- Others may have brought the sequence up to what the caller saw; nobody else touches its own count.
local mine = made ~= '' and tonumber(redis.call('GET', own) or '0') or 0
local isBehind = made ~= '' and mine < tonumber(made)
local hasLetters = redis.call('EXISTS', waiting) == 1
local count, writeTallies = openTallies(prefix, waiting, finished)

-- Delivery is held: by an operator, or for the API's list. Asked once, and only where an attempt begins.
local held
local function isHeld()
  if held ~= nil then return held end
  held = false
  for _, field in ipairs(redis.call('HKEYS', breaker)) do held = held or (string.sub(field, 1, 5) == 'hold:' and field ~= TURN) end
  return held
end

-- A list that was never seen to grow proves nothing: one order of a new ledger is sent, and the others wait until the list
-- has shown it. It keeps its turn as long as the API may have it.
local isDue, turn = redis.call('HGET', listProof, 'proof') == 'due', redis.call('HGET', listProof, 'turn')
local function takesTurn(number, intended)
  if not isDue or turn == number then return true end
  if turn then return false end
  turn = number
  redis.call('HSET', listProof, 'turn', number, 'turnAt', intended)
  redis.call('HSET', breaker, TURN,
    cjson.encode({ code = 'list-unproved', facts = { order = number }, since = intended, turn = number }))
  return true
end

local function passTurnOn(number)
  if not turn or turn ~= number then return end
  turn = nil
  redis.call('HDEL', listProof, 'turn', 'reads', 'nextAt')
  redis.call('HDEL', breaker, TURN)
end

local function mayBegin(intent)
  if epoch ~= intent.epoch or sequence < intent.sequence or isIncomplete or isBehind then return -1 end
  if isHeld() then return -2 end
  -- A clock that is behind would set a deadline that passes before the attempt ends.
  if now > intent.at + travels then return -3 end
  return 1
end

-- Whether an order of a batch may still begin: the batch is neither canceled nor settled, and the order has no outcome. A
-- reader that was suspended asks for it after another one admitted the order and a person canceled it.
local function mayBeAdmitted(batch, ordinal)
  local key = prefix .. ':b:' .. batch
  local state, cancelled = unpack(redis.call('HMGET', key, 'state', 'cancelled'))
  return not cancelled and state ~= 'done' and redis.call('GETBIT', key .. ':counted', ordinal) == 0
end

-- The order is accepted. Dead letters of other content that came after it stay open: those of later batches, such as one that
-- cancels it, and conflicts with this order, because batches that are read together do not admit orders in their sequence.
local function closeBefore(key, closing, batch, ordinal)
  local no = tonumber(redis.call('HGET', prefix .. ':b:' .. batch, 'no') or '0')
  closeLettersOf(prefix, waiting, key, closing, function(of, at)
    local ofKey = prefix .. ':b:' .. of
    local ofNo = tonumber(redis.call('HGET', ofKey, 'no') or '0')
    local isLater = ofNo > no or (ofNo == no and tonumber(at) > ordinal)
    local text = redis.call('HGET', ofKey .. ':results', at)
    -- An order that failed a check has no result.
    local result = text and cjson.decode(text) or { outcome = 'invalid' }
    local isOther = result.outcome == 'conflict' or result.outcome == 'invalid'
    return not (isOther and (isLater or result.against == no))
  end)
end

-- Counts one order of a file. Its first outcome is the one that its batch reports, also when a person sends it again before that.
local function settle(number, batch, ordinal, outcome, result, replacing, key, at)
  if count(number, batch, ordinal, outcome, replacing, key, at) and result then
    redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result)
  end
end

local function commit(entry, change)
  local number, key, batch, ordinal, intent, witness = change.number, change.key, change.batch, change.ordinal, change.intent, change.witness
  if intent then
    local may = mayBegin(intent)
    if may ~= 1 then return may end
  end
  local open, settled = prefix .. ':o:' .. key, prefix .. ':s:' .. change.bucket
  local version = tonumber(string.match(redis.call('GETRANGE', open, 0, 20), '^%d+') or '0')
  if version ~= change.expected then return 0 end
  if version == 0 and redis.call('HEXISTS', settled, key) == 1 then return 0 end
  if change.isAdmission and not mayBeAdmitted(batch, ordinal) then return 0 end
  -- A person said meanwhile that the number is a separate order.
  if change.isAdmission and key ~= '=' .. number and redis.call('HEXISTS', prefix .. ':apart', number) == 1 then return 0 end
  local letters, isTaking = change.from or {}, not change.outcome and not change.goesOn and (change.isAdmission or change.from)
  if isTaking and hasLetters and isBeingCorrected(prefix, waiting, key, batch) then return -4 end
  if intent and not takesTurn(number, intent.at) then return -2 end
  if witness and witness.before ~= (redis.call('HGET', listProof, 'witness') or '') then return 0 end
  if isTaking and not takeLetters(prefix, waiting, letters, batch, key, number) then return -4 end

  if entry == '' then redis.call('DEL', open) else redis.call('SET', open, entry) end
  if change.due then redis.call('ZADD', due, change.due, key)
  elseif not change.goesOn then redis.call('ZREM', due, key) end
  if change.doubt then redis.call('ZADD', doubt, change.doubt, key) end
  if change.noDoubt then redis.call('ZREM', doubt, key) end
  if change.compact then redis.call('HSET', settled, key, change.compact) end
  if change.operatorAction then
    local actions = prefix .. ':d:' .. number
    redis.call('RPUSH', actions, change.operatorAction)
    redis.call('LTRIM', actions, -20, -1)
  end
  if change.isAbsent then passTurnOn(number) end
  if witness then redis.call('HSET', listProof, 'witness', witness.text) end
  sequence = sequence + 1
  local outcome, at = change.outcome, change.at
  if not outcome then return sequence end
  if change.closing and hasLetters then closeBefore(key, change.closing, batch, ordinal) end
  if change.ending then endLetters(prefix, waiting, letters, key, change.ending, outcome == 'accepted' or outcome == 'duplicate') end
  settle(number, batch, ordinal, outcome, change.result, change.needsPerson and change.ending, key, at)
  hasLetters = hasLetters or change.needsPerson
  if change.seen then redis.call('HSET', prefix .. ':seen', unpack(change.seen)) end
  for _, one in ipairs(change.also or {}) do
    settle(number, one.batch, one.ordinal, one.outcome, one.result, false, key, at)
  end
  return sequence
end

local done = {}
for i = 4, #ARGV, 2 do done[#done + 1] = commit(ARGV[i], cjson.decode(ARGV[i + 1])) end

if sequence > before then
  redis.call('HINCRBY', identity, 'sequence', sequence - before)
  -- A caller that is behind stays behind until it is compared: what it does meanwhile must not hide what was lost.
  if made ~= '' and not isBehind then mine = redis.call('INCRBY', own, sequence - before) end
end
writeTallies()
table.insert(done, 1, mine)
return done

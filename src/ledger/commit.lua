-- Commits decided changes of orders, each with its batch's tally in the same step, each for itself: one that comes too
-- late leaves the others as they are. What they share is read once before them and written once after them.
-- KEYS due, doubt, waiting, finished, identity, rebuild, the caller's own count, breaker
-- ARGV prefix, how late an intent may be known, how many changes the caller made ('' does not count them); then for each
--      change its number, its entry's text ('' deletes), and a text of fields, each ended by a line feed: bucket,
--      expected version, due ('' removes), doubt ('' removes, '=' leaves), compact ('' none), batch, ordinal, outcome
--      ('' none), result ('' none), dead letter? ('1'), time, closed as ('' closes none), epoch and number that the
--      ledger must have reached ('' not asked), when an attempt was intended, a person's operatorAction ('' none)
-- Returns the caller's own count; then for each the change's number, 0 when somebody else changed the order first, -1
-- when the ledger was rolled back, also while what the API has is not taken over yet: whoever passed the breaker before it
-- closed stops here.
-- -2 when delivery is held. Key names are those of keys.ts.
local due, doubt, waiting, finished, identity, rebuild, own, breaker = unpack(KEYS)
local prefix, travels, made = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local FIELDS = '^' .. string.rep('([^\n]*)\n', 16) .. '$'

local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local lives, sequence = unpack(redis.call('HMGET', identity, 'epoch', 'sequence'))
sequence = tonumber(sequence or '0')
local before = sequence
local isRolledBack = redis.call('HGET', rebuild, 'why') == 'rolled-back'
-- Others may have brought the number of changes up to what the caller saw; nobody else touches its own count.
local mine = made ~= '' and tonumber(redis.call('GET', own) or '0') or 0
local isBehind = made ~= '' and mine < tonumber(made)
local hasLetters = redis.call('EXISTS', waiting) == 1
local tallies = {}

-- Delivery is held: by an operator, or for the API's list. Asked once, and only where an attempt begins.
local held
local function isHeld()
  if held ~= nil then return held end
  held = false
  for _, field in ipairs(redis.call('HKEYS', breaker)) do held = held or string.sub(field, 1, 5) == 'hold:' end
  return held
end

local function mayBegin(epoch, reached, intended)
  if lives ~= epoch or sequence < tonumber(reached) or isRolledBack or isBehind then return -1 end
  if isHeld() then return -2 end
  -- A clock that is behind would set a deadline that is over before the attempt is.
  if now > tonumber(intended) + travels then return 0 end
  return 1
end

-- The number is settled well: the dead letters of it that still wait are closed, but for those of other content that
-- came after the order that was accepted.
local function closeLetters(number, closing, batch, ordinal)
  local letters = hasLetters and redis.call('HGET', waiting, number)
  if not letters then return end
  local left = {}
  local no = tonumber(redis.call('HGET', prefix .. ':b:' .. batch, 'no') or '0')
  for of, at in string.gmatch(letters, '([^/\n]+)/(%d+)') do
    local key = prefix .. ':b:' .. of
    local ofNo = tonumber(redis.call('HGET', key, 'no') or '0')
    local isLater = ofNo > no or (ofNo == no and tonumber(at) > tonumber(ordinal))
    local result = isLater and redis.call('HGET', key .. ':results', at)
    if result and cjson.decode(result).outcome == 'conflict' then left[#left + 1] = of .. '/' .. at
    elseif redis.call('HSETNX', key .. ':closed', at, closing) == 1 then
      redis.call('HINCRBY', key, 'open', -1)
      redis.call('SADD', prefix .. ':refresh', of)
    end
  end
  if #left == 0 then redis.call('HDEL', waiting, number)
  else redis.call('HSET', waiting, number, table.concat(left, '\n')) end
end

local function tallyOf(batch)
  local tally = tallies[batch]
  if tally == nil then
    local key = prefix .. ':b:' .. batch
    local state, total = unpack(redis.call('HMGET', key, 'state', 'total'))
    tally = { key = key, isDone = state == 'done', total = tonumber(total or 'inf'), outcomes = {}, counted = 0, open = 0 }
    tallies[batch] = tally
  end
  return tally
end

local function count(number, batch, ordinal, outcome, isDead, at)
  local tally = tallyOf(batch)
  -- What a settled batch counted is final, also when a person has one of its orders sent again.
  if tally.isDone or redis.call('SETBIT', tally.key .. ':counted', ordinal, 1) == 1 then return end
  tally.outcomes[outcome] = (tally.outcomes[outcome] or 0) + 1
  tally.counted = tally.counted + 1
  tally.at = at
  if not isDead then return end
  tally.open = tally.open + 1
  local letters = redis.call('HGET', waiting, number)
  local mark = batch .. '/' .. ordinal
  redis.call('HSET', waiting, number, letters and (letters .. '\n' .. mark) or mark)
  hasLetters = true
end

local function score(set, number, at)
  if at == '' then redis.call('ZREM', set, number) elseif at ~= '=' then redis.call('ZADD', set, at, number) end
end

local function commit(number, entry, bucket, expected, dueAt, doubtAt, compact, batch, ordinal, outcome, result, dead,
  at, closing, epoch, reached, intended, operatorAction)
  if epoch ~= '' then
    local may = mayBegin(epoch, reached, intended)
    if may ~= 1 then return may end
  end
  local open, settled = prefix .. ':o:' .. number, prefix .. ':s:' .. bucket
  local version = string.match(redis.call('GETRANGE', open, 0, 20), '^%d+') or '0'
  if version ~= expected then return 0 end
  if version == '0' and redis.call('HEXISTS', settled, number) == 1 then return 0 end

  if entry == '' then redis.call('DEL', open) else redis.call('SET', open, entry) end
  score(due, number, dueAt)
  score(doubt, number, doubtAt)
  if compact ~= '' then redis.call('HSET', settled, number, compact) end
  if operatorAction ~= '' then
    local deeds = prefix .. ':d:' .. number
    redis.call('RPUSH', deeds, operatorAction)
    redis.call('LTRIM', deeds, -20, -1)
  end
  sequence = sequence + 1
  if outcome == '' then return sequence end
  if closing ~= '' then closeLetters(number, closing, batch, ordinal) end
  count(number, batch, ordinal, outcome, dead == '1', at)
  if result ~= '' then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result) end
  return sequence
end

local done = {}
for i = 4, #ARGV, 3 do done[#done + 1] = commit(ARGV[i], ARGV[i + 1], string.match(ARGV[i + 2], FIELDS)) end

if sequence > before then
  redis.call('HINCRBY', identity, 'sequence', sequence - before)
  -- Who is behind stays behind until it is compared: what it does meanwhile must not hide what was lost.
  if made ~= '' and not isBehind then mine = redis.call('INCRBY', own, sequence - before) end
end
for batch, tally in pairs(tallies) do
  if tally.counted > 0 then
    for outcome, times in pairs(tally.outcomes) do redis.call('HINCRBY', tally.key, 'n:' .. outcome, times) end
    if tally.open > 0 then redis.call('HINCRBY', tally.key, 'open', tally.open) end
    redis.call('HSET', tally.key, 'lastAt', tally.at)
    local counted = redis.call('HINCRBY', tally.key, 'counted', tally.counted)
    if counted >= tally.total then redis.call('SADD', finished, batch) end
  end
end
table.insert(done, 1, mine)
return done

-- Commits decided changes of orders, each with its batch's tally in the same step, each for itself: one that comes too
-- late leaves the others as they are.
-- KEYS due, doubt, waiting, finished, identity, take-over
-- ARGV prefix, how late an intent may be told; then 18 for each change:
--      number, its bucket, expected version, entry text ('' deletes), due ('' removes), doubt ('' removes),
--      compact ('' none), batch, ordinal, outcome ('' none), result ('' none), dead letter? ('1'), time,
--      closed as, life and number that the ledger must have reached ('' not asked), when an attempt was intended,
--      a person's deed ('' none)
-- Returns for each the change's number, 0 when somebody else changed the order first, -1 when the ledger was rolled
-- back, also while what the API has is not taken over yet: whoever passed the gate before it closed stops here.
-- Key names are those of keys.ts.
local due, doubt, waiting, finished, identity, takeOver = unpack(KEYS)
local prefix, travels = ARGV[1], tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000

local function mayBegin(life, reached, intended)
  local lives, seq = unpack(redis.call('HMGET', identity, 'life', 'seq'))
  if lives ~= life or tonumber(seq or '0') < tonumber(reached) then return -1 end
  if redis.call('HGET', takeOver, 'why') == 'rolled-back' then return -1 end
  -- A clock that is behind would set a deadline that is over before the attempt is.
  if now > tonumber(intended) + travels then return 0 end
  return 1
end

-- The number is settled well: the dead letters of it that still wait are closed, but for those of other content that
-- came after the order that was accepted.
local function closeLetters(number, closing, batch, ordinal)
  local letters = redis.call('HGET', waiting, number)
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

local function count(number, batch, ordinal, outcome, isDead, at)
  local key = prefix .. ':b:' .. batch
  local state, total = unpack(redis.call('HMGET', key, 'state', 'total'))
  -- What a settled batch counted is final, also when a person has one of its orders sent again.
  if state == 'done' or redis.call('SETBIT', key .. ':counted', ordinal, 1) == 1 then return end
  redis.call('HINCRBY', key, 'n:' .. outcome, 1)
  redis.call('HSET', key, 'lastAt', at)
  if isDead then
    redis.call('HINCRBY', key, 'open', 1)
    local letters = redis.call('HGET', waiting, number)
    local mark = batch .. '/' .. ordinal
    redis.call('HSET', waiting, number, letters and (letters .. '\n' .. mark) or mark)
  end
  local counted = redis.call('HINCRBY', key, 'counted', 1)
  if total and counted >= tonumber(total) then redis.call('SADD', finished, batch) end
end

local function score(set, number, at)
  if at == '' then redis.call('ZREM', set, number) else redis.call('ZADD', set, at, number) end
end

local function commit(number, bucket, expected, entry, dueAt, doubtAt, compact, batch, ordinal, outcome, result, dead,
  at, closing, life, reached, intended, deed)
  if life ~= '' then
    local may = mayBegin(life, reached, intended)
    if may ~= 1 then return may end
  end
  local open, settled = prefix .. ':o:' .. number, prefix .. ':s:' .. bucket
  local current = redis.call('GET', open)
  local version = current and string.match(current, '^%d+') or '0'
  if version ~= expected then return 0 end
  if version == '0' and redis.call('HEXISTS', settled, number) == 1 then return 0 end

  if entry == '' then redis.call('DEL', open) else redis.call('SET', open, entry) end
  score(due, number, dueAt)
  score(doubt, number, doubtAt)
  if compact ~= '' then redis.call('HSET', settled, number, compact) end
  if deed ~= '' then
    local deeds = prefix .. ':d:' .. number
    redis.call('RPUSH', deeds, deed)
    redis.call('LTRIM', deeds, -20, -1)
  end
  local seq = redis.call('HINCRBY', identity, 'seq', 1)
  if outcome == '' then return seq end
  if closing ~= '' then closeLetters(number, closing, batch, ordinal) end
  count(number, batch, ordinal, outcome, dead == '1', at)
  if result ~= '' then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result) end
  return seq
end

local done = {}
for i = 3, #ARGV, 18 do done[#done + 1] = commit(unpack(ARGV, i, i + 17)) end
return done

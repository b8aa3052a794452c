-- The dead letters that an order corrects: a list of { batch, ordinal, number, key, bucket, tombstone, others, isBefore }. Those before
-- became the others, and are not taken, but their numbers end with the order.
-- include close-open-dead-letters.lua
local DEAD = { conflict = true, refused = true, failed = true }

local function entryOf(prefix, one)
  local text = one.number ~= '' and redis.call('GET', prefix .. ':o:' .. one.key)
  local entry = text and cjson.decode(string.sub(text, string.find(text, ':', 1, true) + 1))
  return entry, entry and entry.batch == one.batch and tostring(entry.ordinal) == one.ordinal
end

-- The batch of the order that corrects a dead letter, as long as it is not done.
local function takerOf(prefix, batch, ordinal)
  local by = string.match(redis.call('HGET', prefix .. ':b:' .. batch .. ':taken', ordinal) or '', '^%S+')
  local state = by and redis.call('HGET', prefix .. ':b:' .. by, 'state')
  return state and state ~= 'done' and by or nil
end

-- Whether another file corrects an open dead letter of a number.
local function isBeingCorrected(prefix, waiting, key, batch)
  for line in string.gmatch(redis.call('HGET', waiting, key) or '', '[^\n]+') do
    local of, ordinal = letterIn(line)
    local by = takerOf(prefix, of, ordinal)
    if by and by ~= batch then return true end
  end
  return false
end

-- Not closed, not taken by another file that is not done, and its order is neither in progress nor in doubt, nor is a newer one
-- of its number.
local function isFree(prefix, one, batch, key)
  local of = prefix .. ':b:' .. one.batch
  local by = string.match(redis.call('HGET', of .. ':taken', one.ordinal) or '', '^%S*')
  if by == batch then return true end
  if redis.call('HEXISTS', of .. ':closed', one.ordinal) == 1 or takerOf(prefix, one.batch, one.ordinal) then return false end
  if one.key == key then return true end
  local entry, isOwn = entryOf(prefix, one)
  if not entry or DEAD[entry.state] then return true end
  return not isOwn and (entry.batchNo or 0) <= tonumber(redis.call('HGET', of, 'no') or '0')
end

-- Whether the number that an order had before was accepted after it needed a person under that.
local function wasSentSince(prefix, one)
  local compact = one.number ~= '' and redis.call('HGET', prefix .. ':s:' .. one.bucket, one.key)
  local at = compact and tonumber(string.match(compact, '^................%w*%.(%w*)') or '', 36)
  return at and at > tonumber(redis.call('HGET', prefix .. ':b:' .. one.batch, 'lastAt') or '0')
end

-- Whether the number has an open dead letter of which the order has no row: these would be lost.
local function leavesRows(waiting, letters, key)
  local open = letters[1] and redis.call('HGET', waiting, key)
  local of = open and letterIn(open)
  for _, one in ipairs(letters) do
    if of == one.batch and one.key == key then return false end
  end
  return of
end

-- False where one of them is not free. An order that is sent again takes its own one only as long as that is in progress.
local function takeLetters(prefix, waiting, letters, batch, key, number)
  if leavesRows(waiting, letters, key) then return false end
  for _, one in ipairs(letters) do
    if one.isBefore and wasSentSince(prefix, one) then return false end
    if not one.isBefore and not isFree(prefix, one, batch, key) then return false end
  end
  for _, one in ipairs(letters) do
    if not one.isBefore and one.batch ~= batch then
      redis.call('HSET', prefix .. ':b:' .. one.batch .. ':taken', one.ordinal, batch .. ' ' .. number)
    end
  end
  return true
end

-- The order that was given another number was accepted under that: in its place stays where to find it, unless its number is
-- that of another order. Where the API has the number with other content, that stays.
local function endNumber(prefix, one)
  local entry, isOwn = entryOf(prefix, one)
  local stays = one.tombstone
  -- Another file may have brought the same content, which was not sent again.
  local isSame = isOwn or (entry and entry.digest == string.sub(stays, 1, 16))
  if entry and not (isSame and DEAD[entry.state]) then return end
  if entry and entry.state == 'conflict' then
    stays = (entry.known and entry.known.digest or string.sub(one.others, 1, 16)) .. string.sub(one.others, 17)
  end
  redis.call('DEL', prefix .. ':o:' .. one.key)
  redis.call('HSETNX', prefix .. ':s:' .. one.bucket, one.key, stays)
end

-- The order has its outcome, and closes them. `isThere`: the API has it.
local function endLetters(prefix, waiting, letters, key, closing, isThere)
  for _, one in ipairs(letters) do
    if not one.isBefore then
      closeLettersOf(prefix, waiting, one.key, closing, function(of, at) return of == one.batch and at == one.ordinal end)
      closeLetter(prefix, one.batch, one.ordinal, closing)
    end
    if isThere and one.number ~= '' and one.key ~= key then endNumber(prefix, one) end
  end
end

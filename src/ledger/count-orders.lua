-- Counts outcomes of orders for their batches, each order once. `count` takes one order; `write` stores the sums.
-- include batches/finish-batch.lua
-- include take-letters.lua
local function isAny() return true end

local function waitIn(prefix, key, lines, batch, ordinal, at)
  for line in string.gmatch(lines, '[^\n]+') do
    local of, own, number = letterIn(line)
    local closing = '{"number":' .. cjson.encode(number) .. ',"at":"' .. at .. '","by":"replaced","batch":' .. cjson.encode(batch)
      .. ',"successor":' .. cjson.encode(batch .. '-' .. ordinal) .. '}'
    closeLetter(prefix, of, own, closing)
  end
  redis.call('HSET', prefix .. ':behind', key, lines)
end

-- A new dead letter replaces the open one of its number. It waits in one whose order, or what corrects it, is under way, and one
-- of a later file waits in it: as replaced by it, until that is settled. Those of a number that a file has twice are open side by side.
local function openLetter(prefix, waiting, key, line, replacing)
  local open = redis.call('HGET', waiting, key)
  if not open then return redis.call('HSET', waiting, key, line) end
  local batch, ordinal = letterIn(line)
  local of, at, number = letterIn(open)
  local entry, isOwn = entryOf(prefix, { number = number, key = key, batch = of, ordinal = at })
  local taker = takerOf(prefix, of, at)
  local function noOf(one) return tonumber(redis.call('HGET', prefix .. ':b:' .. one, 'no') or '0') end
  if of == batch then line = open .. '\n' .. line
  elseif (taker and taker ~= batch) or (isOwn and not DEAD[entry.state]) then
    return waitIn(prefix, key, line, of, at, cjson.decode(replacing).at)
  elseif noOf(of) > noOf(batch) then waitIn(prefix, key, open, batch, ordinal, cjson.decode(replacing).at)
  else closeLettersOf(prefix, waiting, key, replacing, isAny) end
  redis.call('HSET', waiting, key, line)
end

local function openTallies(prefix, waiting, finished)
  local tallies = {}

  local function tallyOf(batch)
    local tally = tallies[batch]
    if tally == nil then
      local key = prefix .. ':b:' .. batch
      local state, total = unpack(redis.call('HMGET', key, 'state', 'total'))
      tally = { key = key, isDone = state == 'done', total = total, outcomes = {}, counted = 0, open = 0 }
      tallies[batch] = tally
    end
    return tally
  end

  -- False when the order was counted before. What a settled batch counted is final, also when one of its orders is sent again.
  local function count(number, batch, ordinal, outcome, replacing, key, at)
    local tally = tallyOf(batch)
    if tally.isDone or redis.call('SETBIT', tally.key .. ':counted', ordinal, 1) == 1 then return false end
    tally.outcomes[outcome] = (tally.outcomes[outcome] or 0) + 1
    tally.counted = tally.counted + 1
    tally.at = at
    if replacing then
      tally.open = tally.open + 1
      if number ~= '' then openLetter(prefix, waiting, key, batch .. '/' .. ordinal .. ' ' .. number, replacing) end
    end
    return true
  end

  local function write()
    for batch, tally in pairs(tallies) do
      if tally.counted > 0 then
        for outcome, times in pairs(tally.outcomes) do redis.call('HINCRBY', tally.key, 'n:' .. outcome, times) end
        if tally.open > 0 then redis.call('HINCRBY', tally.key, 'open', tally.open) end
        redis.call('HSET', tally.key, 'lastAt', tally.at)
        finishBatch(finished, batch, redis.call('HINCRBY', tally.key, 'counted', tally.counted), tally.total)
      end
    end
  end

  return count, write
end

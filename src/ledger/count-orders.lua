-- Counts outcomes of orders for their batches, each order once. `count` takes one order; `write` stores the sums.
-- include batches/finish-batch.lua
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
  local function count(number, batch, ordinal, outcome, needsPerson, at)
    local tally = tallyOf(batch)
    if tally.isDone or redis.call('SETBIT', tally.key .. ':counted', ordinal, 1) == 1 then return false end
    tally.outcomes[outcome] = (tally.outcomes[outcome] or 0) + 1
    tally.counted = tally.counted + 1
    tally.at = at
    if needsPerson then
      tally.open = tally.open + 1
      if number ~= '' then
        local marks = redis.call('HGET', waiting, number)
        local mark = batch .. '/' .. ordinal
        redis.call('HSET', waiting, number, marks and (marks .. '\n' .. mark) or mark)
      end
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

-- The one rule of when a batch is finished: as many orders are counted as its file has. `total` is nil while it is read.
local function finishBatch(finished, batch, counted, total)
  if total and counted >= tonumber(total) then redis.call('SADD', finished, batch) end
end

-- Closes dead letters: the one place where one is marked as closed. `waiting` holds those that are open, by order number.
local function closeLetter(prefix, batch, ordinal, closing)
  local key = prefix .. ':b:' .. batch
  if redis.call('HSETNX', key .. ':closed', ordinal, closing) == 0 then return 0 end
  if redis.call('HEXISTS', key, 'batch') == 1 then redis.call('HINCRBY', key, 'open', -1) end
  redis.call('XADD', prefix .. ':changes', 'MAXLEN', '~', 20000, '*', 'batch', batch, 'closed', ordinal)
  return 1
end

-- Of the open dead letters of a number, closes those that `closes(batch, ordinal)` picks. Returns how many.
local function closeLettersOf(prefix, waiting, number, closing, closes)
  local letters = redis.call('HGET', waiting, number)
  if not letters then return 0 end
  local left, closed = {}, 0
  for batch, ordinal in string.gmatch(letters, '([^/\n]+)/(%d+)') do
    if closes(batch, ordinal) then closed = closed + closeLetter(prefix, batch, ordinal, closing)
    else left[#left + 1] = batch .. '/' .. ordinal end
  end
  if #left == 0 then redis.call('HDEL', waiting, number)
  else redis.call('HSET', waiting, number, table.concat(left, '\n')) end
  return closed
end

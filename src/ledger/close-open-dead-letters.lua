-- Closes dead letters: the one place where one is marked as closed, and where it opens again. `waiting` holds the open one by
-- the key of its number, as `batch/ordinal number`, and `behind` the one that waits in it.
local function letterIn(line)
  return string.match(line, '^([^/]+)/(%d+) ?(.*)$')
end

local function changeOpen(prefix, batch, by, ordinal)
  local key = prefix .. ':b:' .. batch
  if redis.call('HEXISTS', key, 'batch') == 1 then redis.call('HINCRBY', key, 'open', by) end
  if by < 0 then redis.call('XADD', prefix .. ':changes', 'MAXLEN', '~', 20000, '*', 'batch', batch, 'closed', ordinal)
  else redis.call('XADD', prefix .. ':changes', 'MAXLEN', '~', 20000, '*', 'batch', batch) end
end

local function closeLetter(prefix, batch, ordinal, closing)
  if redis.call('HSETNX', prefix .. ':b:' .. batch .. ':closed', ordinal, closing) == 0 then return 0 end
  changeOpen(prefix, batch, -1, ordinal)
  redis.call('SADD', prefix .. ':to-answer', batch .. '-' .. ordinal)
  return 1
end

-- Of the open dead letters of a number, closes those that `closes(batch, ordinal)` picks. Returns how many.
local function closeLettersOf(prefix, waiting, key, closing, closes)
  local letters = redis.call('HGET', waiting, key)
  if not letters then return 0 end
  local left, closed = {}, 0
  for line in string.gmatch(letters, '[^\n]+') do
    local batch, ordinal = letterIn(line)
    if closes(batch, ordinal) then closed = closed + closeLetter(prefix, batch, ordinal, closing) else left[#left + 1] = line end
  end
  local behind = #left == 0 and redis.call('HGET', prefix .. ':behind', key)
  if behind then
    redis.call('HDEL', prefix .. ':behind', key)
    for line in string.gmatch(behind, '[^\n]+') do
      local batch, ordinal = letterIn(line)
      if not closes(batch, ordinal) and redis.call('HDEL', prefix .. ':b:' .. batch .. ':closed', ordinal) == 1 then
        changeOpen(prefix, batch, 1, ordinal)
        left[#left + 1] = line
      end
    end
  end
  if #left == 0 then redis.call('HDEL', waiting, key)
  else redis.call('HSET', waiting, key, table.concat(left, '\n')) end
  return closed
end

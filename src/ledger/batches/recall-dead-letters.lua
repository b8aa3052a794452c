-- Keeps dead letters of a settled batch that is not known yet, as they were kept when it was read. Repeatable.
-- KEYS waiting, results, closed, rows; ARGV batch name, then for each dead letter: order number ('' none), field of `closed`, result
-- ('' none), how it was closed ('' it is open, or nothing depends on how), and the rows that an order has, as a list of field and owner.
for i = 2, #ARGV, 5 do
  local number, field, result, closing, rows = unpack(ARGV, i, i + 4)
  if result ~= '' then redis.call('HSET', KEYS[2], field, result) end
  if closing ~= '' then redis.call('HSETNX', KEYS[3], field, closing) end
  for _, row in ipairs(cjson.decode(rows)) do redis.call('HSETNX', KEYS[4], row[1], row[2]) end
  local isOpen = result ~= '' and redis.call('HEXISTS', KEYS[3], field) == 0
  if isOpen and number ~= '' then
    local marks, mark = redis.call('HGET', KEYS[1], number), ARGV[1] .. '/' .. field
    local isKept = marks and string.find('\n' .. marks .. '\n', '\n' .. mark .. '\n', 1, true)
    if not isKept then redis.call('HSET', KEYS[1], number, marks and (marks .. '\n' .. mark) or mark) end
  end
end

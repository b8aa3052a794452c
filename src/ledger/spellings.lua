-- Keeps or forgets other spellings of numbers. KEYS spellings; ARGV `keep` or `forget`, how many spellings of one number are
-- kept, then plain number and number in pairs. A field has the numbers in the order in which they came, separated by NUL;
-- beyond the most, the newest takes the place of the last.
local most = tonumber(ARGV[2])
for at = 3, #ARGV, 2 do
  local plain, number = ARGV[at], ARGV[at + 1]
  local kept = {}
  for one in string.gmatch(redis.call('HGET', KEYS[1], plain) or '', '[^%z]+') do
    if one ~= number then kept[#kept + 1] = one end
  end
  if ARGV[1] == 'keep' then kept[math.min(#kept + 1, most)] = number end
  if #kept == 0 then redis.call('HDEL', KEYS[1], plain)
  else redis.call('HSET', KEYS[1], plain, table.concat(kept, '\0')) end
end

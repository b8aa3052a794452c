-- Sets a number apart from one that differs in its spelling only. Its dead letters, open or waiting behind the other's, are
-- then open under its own key.
-- include close-open-dead-letters.lua
-- KEYS open, numbers apart, waiting, behind; ARGV prefix, number, version of the other's entry, now, common key, own key.
-- Returns 0 where that entry changed.
local prefix, number, version, now, key, own = unpack(ARGV)
local waiting, behind = KEYS[3], KEYS[4]
if (string.match(redis.call('GETRANGE', KEYS[1], 0, 20), '^%d+') or '0') ~= version then return 0 end
redis.call('HSET', KEYS[2], number, now)

local apart = {}
for _, letters in ipairs({ waiting, behind }) do
  local left = {}
  for line in string.gmatch(redis.call('HGET', letters, key) or '', '[^\n]+') do
    local batch, ordinal, of = letterIn(line)
    if of ~= number then left[#left + 1] = line
    else
      apart[#apart + 1] = line
      if redis.call('HDEL', prefix .. ':b:' .. batch .. ':closed', ordinal) == 1 then changeOpen(prefix, batch, 1, ordinal) end
    end
  end
  redis.call('HSET', letters, key, table.concat(left, '\n'))
end
if #apart > 0 then redis.call('HSET', waiting, own, table.concat(apart, '\n')) end
-- Opens what waited behind a letter that left.
closeLettersOf(prefix, waiting, key, '', function() return false end)
if redis.call('HGET', behind, key) == '' then redis.call('HDEL', behind, key) end
return 1

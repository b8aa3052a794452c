-- Replaces or forgets settled orders that are still as they were read. KEYS identity, which names the node of a cluster; ARGV
-- prefix, then of each its bucket, its number, its text as read and its new text ('' forgets it). Key names are those of keys.ts.
-- Returns for each whether it was as read: 1 or 0.
local prefix, done = ARGV[1], {}
for i = 2, #ARGV, 4 do
  local settled, number = prefix .. ':s:' .. ARGV[i], ARGV[i + 1]
  local isSame = redis.call('HGET', settled, number) == ARGV[i + 2]
  if isSame and ARGV[i + 3] == '' then redis.call('HDEL', settled, number)
  elseif isSame then redis.call('HSET', settled, number, ARGV[i + 3]) end
  done[#done + 1] = isSame and 1 or 0
end
return done

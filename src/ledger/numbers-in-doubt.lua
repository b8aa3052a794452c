-- Which of these orders are in doubt and wait for a person. KEYS waiting, which names the node of a cluster; ARGV prefix,
-- then the keys. In the text of an entry, quotes that belong to a value are escaped.
local found = {}
for i = 2, #ARGV do
  local entry = redis.call('GET', ARGV[1] .. ':o:' .. ARGV[i])
  if entry and string.find(entry, '"state":"inDoubt"', 1, true) then found[#found + 1] = ARGV[i] end
end
return found

-- What is known of each number. KEYS none by name; ARGV prefix, then number and bucket of each.
-- Returns for each the entry's text and the compact entry, false where there is none. Key names are those of keys.ts.
local found = {}
for i = 2, #ARGV, 2 do
  found[#found + 1] = redis.call('GET', ARGV[1] .. ':o:' .. ARGV[i])
  found[#found + 1] = redis.call('HGET', ARGV[1] .. ':s:' .. ARGV[i + 1], ARGV[i])
end
return found

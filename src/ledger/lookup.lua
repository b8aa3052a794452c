-- What the ledger knows about each number. KEYS identity, which names the node of a cluster; ARGV prefix, then number and bucket of each; key names are those of keys.ts.
-- Returns for each the entry's text, or '=' and the compact entry, or false.
local prefix, found = ARGV[1], {}
for i = 2, #ARGV, 2 do
  local known = redis.call('GET', prefix .. ':o:' .. ARGV[i])
  if not known then
    local compact = redis.call('HGET', prefix .. ':s:' .. ARGV[i + 1], ARGV[i])
    known = compact and ('=' .. compact)
  end
  found[#found + 1] = known
end
return found

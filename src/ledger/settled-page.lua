-- What stays of settled orders. KEYS some of their buckets. Returns the key and the compact entry of each order, one after the other.
local found = {}
for _, bucket in ipairs(KEYS) do
  for _, text in ipairs(redis.call('HGETALL', bucket)) do found[#found + 1] = text end
end
return found

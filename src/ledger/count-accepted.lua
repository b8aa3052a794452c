-- Counts settled orders in some of their buckets, whose names are those of keys.ts. KEYS identity; ARGV prefix, first and last bucket.
local found = 0
for bucket = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  found = found + redis.call('HLEN', ARGV[1] .. ':s:' .. string.format('%x', bucket))
end
return found

-- Adds an order that the API has to the ledger, unless the number is known. KEYS open, settled bucket; ARGV number, compact entry.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
return redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])

-- Adds an order that the API has to the ledger, unless it is known. KEYS open, settled bucket,
-- identity; ARGV key, compact entry.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[3], 'sequence', 1)
return 1

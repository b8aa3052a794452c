-- Generic cell rate algorithm: spreads calls evenly over all daemons. KEYS rate; ARGV interval of one call, burst, and ledger time
-- as the caller continued it (all microseconds): Redis' own clock may have a step that nobody has taken out yet.
-- Reserves a call and returns when it may be made, ledger time in microseconds.
local interval, burst, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now - burst)
local ahead = math.max(0, due - now)
redis.call('SET', KEYS[1], string.format('%.0f', due + interval), 'PX', math.ceil((ahead + interval + burst) / 1000) + 1000)
return string.format('%.0f', due)

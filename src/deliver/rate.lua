-- Generic cell rate algorithm: spreads calls evenly over all daemons. KEYS rate; ARGV interval of one call, burst, and ledger time
-- as the caller continued it (all microseconds): Redis' own clock may have a step that nobody has taken out yet; and 1 for a call
-- that passes those that wait.
-- Reserves a call and returns when it may be made, ledger time in microseconds, and how many calls have passed others so far.
local interval, burst, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local due = math.max(tonumber(redis.call('HGET', KEYS[1], 'due') or '0'), now - burst)
local ahead = math.max(0, due - now)
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due + interval))
local passed = redis.call('HINCRBY', KEYS[1], 'passed', ARGV[4])
redis.call('PEXPIRE', KEYS[1], math.ceil((ahead + interval + burst) / 1000) + 1000)
return { string.format('%.0f', due), passed }

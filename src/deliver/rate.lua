-- Generic cell rate algorithm: spreads calls evenly over all daemons. KEYS rate; ARGV interval of one call, burst (both microseconds).
-- Reserves a call and returns how many microseconds the caller waits before it.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now - burst)
local wait = math.max(0, due - now)
redis.call('SET', KEYS[1], string.format('%.0f', due + interval), 'PX', math.ceil((wait + interval + burst) / 1000) + 1000)
return wait

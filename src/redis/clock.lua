-- Reads ledger time: Redis' clock without its steps. It never goes back, and daemons take out what it jumped ahead.
-- KEYS identity, due, doubt, rebuild; ARGV the number of steps that the caller knows, and how many milliseconds the clock
-- jumped ahead since the caller saw it last, by the caller's own clock (0: none).
-- Returns ledger time in milliseconds, how many steps were taken out so far, and ledger time when the last one was.
local t = redis.call('TIME')
local clock = t[1] * 1000 + t[2] / 1000
local stored = redis.call('HMGET', KEYS[1], 'shift', 'steps', 'last', 'stepAt')
local shift, steps, last = tonumber(stored[1] or '0'), tonumber(stored[2] or '0'), tonumber(stored[3] or '0')
local stepAt = stored[4] or '0'
local now, ahead = clock - shift, tonumber(ARGV[2])
local was, known = shift, steps

-- While nothing waits for a time, a step forward is no harm: ledger time follows the clock again.
local function isIdle()
  return redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) == 0
end

if now < last then
  -- The clock was set back.
  shift, steps = clock - last, steps + 1
elseif ahead > 0 and steps == tonumber(ARGV[1]) then
  shift, steps = shift + ahead, steps + 1
elseif shift > 0 and isIdle() then
  shift, steps = 0, steps + 1
elseif shift < 0 then
  -- After it was set back, ledger time goes a tenth slower until the clock has caught up.
  shift = math.min(0, shift + (now - last) / 10)
end

now = clock - shift
if steps > known then stepAt = string.format('%.3f', now) end
redis.call('HSET', KEYS[1], 'last', string.format('%.3f', now))
if shift ~= was then redis.call('HSET', KEYS[1], 'shift', string.format('%.3f', shift), 'steps', steps, 'stepAt', stepAt) end
return { string.format('%.3f', now), steps, stepAt }

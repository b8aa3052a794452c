-- Compares the ledger with what a daemon remembers of it. Where the ledger knows too little, a new epoch begins and the API's
-- list is requested, in the same step.
-- KEYS identity, rebuild, breaker, the caller's own count; ARGV a JSON object:
--   epoch, sequence  that the caller remembers; '' for none
--   name             of a new epoch
--   made, keep       how many changes the caller made, and how long that is kept
--   now              ledger time as the caller continued it
--   wait             milliseconds after a rollback
--   field, hold      of the breaker after a rollback, and its text
--   emptied          its text where there is no ledger at all
-- Returns same | new | rolled-back | emptied, the epoch, its sequence.
local epoch, sequence, succeeds, shift, steps =
  unpack(redis.call('HMGET', KEYS[1], 'epoch', 'sequence', 'succeeds', 'shift', 'steps'))
sequence = tonumber(sequence or '0')
local asked = cjson.decode(ARGV[1])
local remembered, number, name = asked.epoch, asked.sequence, asked.name

-- The new epoch makes up for what was lost: from now on the caller is not behind.
local own, made = tonumber(redis.call('GET', KEYS[4]) or '0'), asked.made
redis.call('SET', KEYS[4], math.max(own, made), 'PX', asked.keep)

local before = ' ' .. (succeeds or '') .. ' '
if epoch and (remembered == '' or string.find(before, ' ' .. remembered .. ' ', 1, true)) then
  return { 'same', epoch, tostring(sequence) }
end
if epoch and epoch == remembered and sequence >= number and own >= made then return { 'same', epoch, tostring(sequence) } end

sequence = math.max(sequence, number)
-- It succeeds what was remembered and what was found, so that two daemons never end each other's epochs.
local lives = remembered .. ' ' .. (epoch or '') .. ' ' .. (succeeds or '')
redis.call('HSET', KEYS[1], 'epoch', name, 'sequence', sequence, 'succeeds', string.sub(lives, 1, 1000))
redis.call('DEL', KEYS[2])
local t = redis.call('TIME')
local clock = t[1] * 1000 + t[2] / 1000
if remembered == '' then
  local now = math.floor(clock - tonumber(shift or '0'))
  redis.call('HSET', KEYS[1], 'begunAt', now)
  redis.call('HSET', KEYS[2], 'why', 'new', 'epoch', name, 'notBefore', now)
  return { 'new', name, tostring(sequence) }
end
-- What the clock's steps were is lost too: ledger time continues as the caller continued it.
local now = asked.now
if not epoch then redis.call('HSET', KEYS[1], 'begunAt', now) end
redis.call('HSET', KEYS[1], 'shift', string.format('%.3f', clock - now), 'steps', tonumber(steps or '0') + 1,
  'last', now, 'stepAt', now)
redis.call('HSET', KEYS[2], 'why', 'rolled-back', 'epoch', name, 'notBefore', now + asked.wait, 'wait', asked.wait)
redis.call('HSETNX', KEYS[3], asked.field, epoch and asked.hold or asked.emptied)
return { epoch and 'rolled-back' or 'emptied', name, tostring(sequence) }

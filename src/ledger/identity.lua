-- Compares the ledger with what a daemon remembers of it. Where the ledger knows too little, a new epoch begins and the API's
-- list is requested, in the same step.
-- KEYS identity, rebuild, breaker, the caller's own count; ARGV remembered epoch ('' none), its sequence, a new name, wait
-- after a rollback, field of the hold, hold, how many changes the caller made, how long its count is kept, and ledger time as the caller
-- continued it, and the hold where there is no ledger at all.
-- Returns same | new | rolled-back | emptied, the epoch, its sequence.
local epoch, sequence, succeeds, shift, steps =
  unpack(redis.call('HMGET', KEYS[1], 'epoch', 'sequence', 'succeeds', 'shift', 'steps'))
sequence = tonumber(sequence or '0')
local remembered, number = ARGV[1], tonumber(ARGV[2])

-- The new epoch makes up for what was lost: from now on the caller is not behind.
local own, made = tonumber(redis.call('GET', KEYS[4]) or '0'), tonumber(ARGV[7])
redis.call('SET', KEYS[4], math.max(own, made), 'PX', ARGV[8])

local before = ' ' .. (succeeds or '') .. ' '
if epoch and (remembered == '' or string.find(before, ' ' .. remembered .. ' ', 1, true)) then
  return { 'same', epoch, tostring(sequence) }
end
if epoch and epoch == remembered and sequence >= number and own >= made then return { 'same', epoch, tostring(sequence) } end

sequence = math.max(sequence, number)
-- It succeeds what was remembered and what was found, so that two daemons never end each other's epochs.
local lives = remembered .. ' ' .. (epoch or '') .. ' ' .. (succeeds or '')
redis.call('HSET', KEYS[1], 'epoch', ARGV[3], 'sequence', sequence, 'succeeds', string.sub(lives, 1, 1000))
redis.call('DEL', KEYS[2])
local t = redis.call('TIME')
local clock = t[1] * 1000 + t[2] / 1000
if remembered == '' then
  local now = math.floor(clock - tonumber(shift or '0'))
  redis.call('HSET', KEYS[1], 'begunAt', now)
  redis.call('HSET', KEYS[2], 'why', 'new', 'epoch', ARGV[3], 'notBefore', now)
  return { 'new', ARGV[3], tostring(sequence) }
end
-- What the clock's steps were is lost too: ledger time continues as the caller continued it.
local now = tonumber(ARGV[9])
if not epoch then redis.call('HSET', KEYS[1], 'begunAt', now) end
redis.call('HSET', KEYS[1], 'shift', string.format('%.3f', clock - now), 'steps', tonumber(steps or '0') + 1,
  'last', ARGV[9], 'stepAt', ARGV[9])
redis.call('HSET', KEYS[2], 'why', 'rolled-back', 'epoch', ARGV[3], 'notBefore', now + tonumber(ARGV[4]), 'wait', ARGV[4])
redis.call('HSETNX', KEYS[3], ARGV[5], epoch and ARGV[6] or ARGV[10])
return { epoch and 'rolled-back' or 'emptied', ARGV[3], tostring(sequence) }

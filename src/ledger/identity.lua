-- Compares this ledger with what a daemon remembers of it, and where it knows too little asks for the API's list in the same step.
-- KEYS identity, take-over, gate, the caller's own count; ARGV remembered life ('' none), its number, a new name, wait after
-- a rollback, hold's field, hold, how many changes the caller made, and how long its count is kept.
-- Returns same | new | rolled-back, the life, its number.
local life, seq, succeeds = unpack(redis.call('HMGET', KEYS[1], 'life', 'seq', 'succeeds'))
seq = tonumber(seq or '0')
local remembered, number = ARGV[1], tonumber(ARGV[2])

-- What is told below makes up for what was lost: from now on the caller is not behind.
local own, made = tonumber(redis.call('GET', KEYS[4]) or '0'), tonumber(ARGV[7])
redis.call('SET', KEYS[4], math.max(own, made), 'PX', ARGV[8])

local before = ' ' .. (succeeds or '') .. ' '
if life and (remembered == '' or string.find(before, ' ' .. remembered .. ' ', 1, true)) then
  return { 'same', life, tostring(seq) }
end
if life and life == remembered and seq >= number and own >= made then return { 'same', life, tostring(seq) } end

seq = math.max(seq, number)
-- It succeeds what we remember and what was found, so that two daemons never undo each other's lives.
local lives = remembered .. ' ' .. (life or '') .. ' ' .. (succeeds or '')
redis.call('HSET', KEYS[1], 'life', ARGV[3], 'seq', seq, 'succeeds', string.sub(lives, 1, 1000))
redis.call('DEL', KEYS[2])
-- By Redis' own clock: a daemon that just woke may be wrong about it.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if remembered == '' then
  redis.call('HSET', KEYS[2], 'why', 'new', 'life', ARGV[3], 'notBefore', now)
  return { 'new', ARGV[3], tostring(seq) }
end
redis.call('HSET', KEYS[2], 'why', 'rolled-back', 'life', ARGV[3], 'notBefore', now + tonumber(ARGV[4]))
redis.call('HSETNX', KEYS[3], ARGV[5], ARGV[6])
return { 'rolled-back', ARGV[3], tostring(seq) }

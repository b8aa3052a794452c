-- Compares this ledger with what a daemon remembers of it. KEYS identity; ARGV remembered life ('' none), its number, a new name.
-- Returns same | new | rolled-back, the life, its number.
local life, seq, succeeds = unpack(redis.call('HMGET', KEYS[1], 'life', 'seq', 'succeeds'))
seq = tonumber(seq or '0')
local remembered, number = ARGV[1], tonumber(ARGV[2])

if life and (remembered == '' or succeeds == remembered) then return { 'same', life, tostring(seq) } end
if life and life == remembered and seq >= number then return { 'same', life, tostring(seq) } end

redis.call('HSET', KEYS[1], 'life', ARGV[3], 'seq', math.max(seq, number), 'succeeds', remembered)
return { remembered == '' and 'new' or 'rolled-back', ARGV[3], tostring(math.max(seq, number)) }

-- Lets duplicates wait for the orders in progress that they repeat. Repeatable.
-- KEYS followers; ARGV prefix, then for each: number, version of the entry, mark (`no/ordinal/place`), batch, ordinal, is
-- the entry of the same batch? ('1'), and the result of a duplicate within one file.
-- Returns for each 1, 0 when the order was changed meanwhile, or -1 when the batch no longer has the number of the mark: Redis
-- forgot it since, and the number may be another batch's now.
local prefix, done = ARGV[1], {}
for i = 2, #ARGV, 7 do
  local number, version, mark, batch, ordinal, isOwn, result = unpack(ARGV, i, i + 6)
  local current = string.match(redis.call('GETRANGE', prefix .. ':o:' .. number, 0, 20), '^%d+')
  if redis.call('HGET', prefix .. ':batch-names', string.match(mark, '^%d+')) ~= batch then done[#done + 1] = -1
  elseif current == version then
    local marks = redis.call('HGET', KEYS[1], number)
    local no, name = string.match(mark, '^(%d+/)'), string.match(mark, '^%d+/%d+/')
    if not marks then redis.call('HSET', KEYS[1], number, mark)
    elseif not string.find('\t' .. marks, '\t' .. name, 1, true) then
      redis.call('HSET', KEYS[1], number, marks .. '\t' .. mark)
      -- Another order of the batch is before it: once that one is sent, this is its duplicate.
      if string.find('\t' .. marks, '\t' .. no, 1, true) then isOwn = '1' end
    end
    if isOwn == '1' then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result) end
    done[#done + 1] = 1
  else done[#done + 1] = 0 end
end
return done

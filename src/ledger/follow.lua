-- Lets duplicates wait for the orders in progress that they repeat. Repeatable.
-- KEYS followers, identity, the caller's own count; ARGV prefix, how many changes the caller made ('' does not count them),
-- then for each: key, version of the entry, mark (`no/ordinal/place`), batch, ordinal, is
-- the entry of the same batch? ('1'), and the result of a duplicate within one file.
-- Returns the sequence and the caller's own count, then for each 1, 0 when the order or the batch was changed meanwhile,
-- or -1 when the batch no longer has the number of the mark: Redis forgot it since, and the number may be another
-- batch's now.
-- include note-changes.lua
-- include may-be-admitted.lua
local prefix, made, done, changes = ARGV[1], ARGV[2], {}, 0
for i = 3, #ARGV, 7 do
  local key, version, mark, batch, ordinal, isOwn, result = unpack(ARGV, i, i + 6)
  local current = string.match(redis.call('GETRANGE', prefix .. ':o:' .. key, 0, 20), '^%d+')
  if redis.call('HGET', prefix .. ':batch-names', string.match(mark, '^%d+')) ~= batch then done[#done + 1] = -1
  elseif current == version and mayBeAdmitted(prefix, batch, ordinal) then
    local marks = redis.call('HGET', KEYS[1], key)
    local no, name = string.match(mark, '^(%d+/)'), string.match(mark, '^%d+/%d+/')
    if not marks then redis.call('HSET', KEYS[1], key, mark)
    elseif not string.find('\t' .. marks, '\t' .. name, 1, true) then
      redis.call('HSET', KEYS[1], key, marks .. '\t' .. mark)
      -- Another order of the batch is before it: once that one is sent, this is its duplicate.
      if string.find('\t' .. marks, '\t' .. no, 1, true) then isOwn = '1' end
    end
    if isOwn == '1' then redis.call('HSET', prefix .. ':b:' .. batch .. ':results', ordinal, result) end
    changes = changes + 1
    done[#done + 1] = 1
  else done[#done + 1] = 0 end
end
local sequence, mine = noteChanges(KEYS[2], KEYS[3], made, changes)
table.insert(done, 1, mine)
table.insert(done, 1, sequence)
return done

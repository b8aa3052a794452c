-- Counts changes of the ledger: all of them, and those of the daemon that made them ('' counts none apart).
-- Returns the sequence, and the daemon's own count.
local function noteChanges(identity, own, made, changes)
  local sequence = changes > 0 and redis.call('HINCRBY', identity, 'sequence', changes)
    or tonumber(redis.call('HGET', identity, 'sequence') or '0')
  local mine = made ~= '' and tonumber(redis.call('GET', own) or '0') or 0
  -- A caller that is behind stays behind until it is compared: what it does meanwhile must not hide what was lost.
  if made ~= '' and changes > 0 and mine >= tonumber(made) then mine = redis.call('INCRBY', own, changes) end
  return sequence, mine
end

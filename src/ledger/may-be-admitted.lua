-- Whether an order of a batch may still begin: the batch is neither canceled nor settled, and the order has no outcome. A
-- reader that was suspended asks for it after another one admitted the order and a person canceled it.
local function mayBeAdmitted(prefix, batch, ordinal)
  local key = prefix .. ':b:' .. batch
  local state, cancelled = unpack(redis.call('HMGET', key, 'state', 'cancelled'))
  return not cancelled and state ~= 'done' and redis.call('GETBIT', key .. ':counted', ordinal) == 0
end

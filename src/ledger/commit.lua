-- Commits one decided change of an order, and its batch's tally in the same step.
-- KEYS open, settled bucket, due, doubt, waiting, batch, counted, results, finished, identity, deeds, take-over
-- ARGV number, expected version, entry text ('' deletes), due ('' removes), doubt ('' removes), compact ('' none),
--      ordinal, outcome ('' none), result ('' none), dead letter? ('1'), time, prefix, batch name, closed as,
--      life and number that the ledger must have reached ('' not asked), a person's deed ('' none), when an attempt was
--      intended, and how late that may be told
-- Returns the change's number, 0 when somebody else changed the order first, -1 when the ledger was rolled back,
-- also while what the API has is not taken over yet: whoever passed the gate before it closed stops here.
local number = ARGV[1]
if ARGV[15] ~= '' then
  local life, seq = unpack(redis.call('HMGET', KEYS[10], 'life', 'seq'))
  if life ~= ARGV[15] or tonumber(seq or '0') < tonumber(ARGV[16]) then return -1 end
  if redis.call('HGET', KEYS[12], 'why') == 'rolled-back' then return -1 end
  -- A clock that is behind would set a deadline that is over before the attempt is.
  local t = redis.call('TIME')
  if t[1] * 1000 + t[2] / 1000 > tonumber(ARGV[18]) + tonumber(ARGV[19]) then return 0 end
end
local current = redis.call('GET', KEYS[1])
local version = current and string.match(current, '^%d+') or '0'
if version ~= ARGV[2] then return 0 end
if version == '0' and redis.call('HEXISTS', KEYS[2], number) == 1 then return 0 end

if ARGV[3] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[3]) end
if ARGV[4] == '' then redis.call('ZREM', KEYS[3], number) else redis.call('ZADD', KEYS[3], ARGV[4], number) end
if ARGV[5] == '' then redis.call('ZREM', KEYS[4], number) else redis.call('ZADD', KEYS[4], ARGV[5], number) end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[2], number, ARGV[6]) end
if ARGV[17] ~= '' then
  redis.call('RPUSH', KEYS[11], ARGV[17])
  redis.call('LTRIM', KEYS[11], -20, -1)
end
local seq = redis.call('HINCRBY', KEYS[10], 'seq', 1)
if ARGV[8] == '' then return seq end

if ARGV[14] ~= '' then
  -- The number is settled well: the dead letters of it that still wait are closed, but for those of other content that
  -- came after the order that was accepted.
  local waiting = redis.call('HGET', KEYS[5], number)
  if waiting then
    local left = {}
    local no = tonumber(redis.call('HGET', KEYS[6], 'no') or '0')
    for batch, ordinal in string.gmatch(waiting, '([^/\n]+)/(%d+)') do
      local key = ARGV[12] .. ':b:' .. batch
      local of = tonumber(redis.call('HGET', key, 'no') or '0')
      local isLater = of > no or (of == no and tonumber(ordinal) > tonumber(ARGV[7]))
      local result = isLater and redis.call('HGET', key .. ':results', ordinal)
      if result and cjson.decode(result).outcome == 'conflict' then left[#left + 1] = batch .. '/' .. ordinal
      elseif redis.call('HSETNX', key .. ':closed', ordinal, ARGV[14]) == 1 then
        redis.call('HINCRBY', key, 'open', -1)
        redis.call('SADD', ARGV[12] .. ':refresh', batch)
      end
    end
    if #left == 0 then redis.call('HDEL', KEYS[5], number)
    else redis.call('HSET', KEYS[5], number, table.concat(left, '\n')) end
  end
end

-- What a settled batch counted is final, also when a person has one of its orders sent again.
if redis.call('HGET', KEYS[6], 'state') ~= 'done' and redis.call('SETBIT', KEYS[7], ARGV[7], 1) == 0 then
  redis.call('HINCRBY', KEYS[6], 'n:' .. ARGV[8], 1)
  redis.call('HSET', KEYS[6], 'lastAt', ARGV[11])
  if ARGV[10] == '1' then
    redis.call('HINCRBY', KEYS[6], 'open', 1)
    local waiting = redis.call('HGET', KEYS[5], number)
    local mark = ARGV[13] .. '/' .. ARGV[7]
    redis.call('HSET', KEYS[5], number, waiting and (waiting .. '\n' .. mark) or mark)
  end
  local counted = redis.call('HINCRBY', KEYS[6], 'counted', 1)
  local total = redis.call('HGET', KEYS[6], 'total')
  if total and counted >= tonumber(total) then redis.call('SADD', KEYS[9], ARGV[13]) end
end
if ARGV[9] ~= '' then redis.call('HSET', KEYS[8], ARGV[7], ARGV[9]) end
return seq

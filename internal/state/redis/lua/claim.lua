-- Inserts a record unless there is one, and returns the one that stands.
-- KEYS: the record; of a task also the register of indexes, then the indexes it belongs to.
-- ARGV: 1 retention in ms, 2 version of the form, 3 created (12 bytes, or '' for now),
--       4 the rest of the record, 5 id, 6 seconds until an index is swept.
-- The first write must be one that a server without memory refuses: the rest then runs.
local stands = redis.call('GET', KEYS[1])
if stands then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return stands
end

local now, created = redis.call('TIME'), ARGV[3]
local second = tonumber(now[1])
if created == '' then
  local high = math.floor(second / 4294967296)
  created = struct.pack('>I4I4I4', 2147483648 + high, second % 4294967296, tonumber(now[2]) * 1000)
end
local record = ARGV[2] .. created .. ARGV[4]
redis.call('SET', KEYS[1], record, 'PX', ARGV[1])
for i = 3, #KEYS do
  redis.call('ZADD', KEYS[i], 0, created .. ARGV[5])
  redis.call('ZADD', KEYS[2], 'NX', second + ARGV[6], KEYS[i])
end
return record

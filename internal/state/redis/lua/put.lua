-- Stores a value and says whether it did.
-- KEYS: the value, the space's index by key, the same by when values expire.
-- ARGV: 1 version of the form, 2 data, 3 key, 4 time to live in ms, 0 for ever,
--       5 'add' to leave a value that is there, 'replace' to store none where there is none.
if ARGV[5] == 'add' and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if ARGV[5] == 'replace' and redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local time, ttl = redis.call('TIME'), tonumber(ARGV[4])
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lives, expires = redis.call('PTTL', KEYS[2]), 0 -- -2 when there is no index, -1 for ever

if ttl > 0 then expires = now + ttl end
local value = ARGV[1] .. struct.pack('>I4I4', math.floor(expires / 4294967296), expires % 4294967296) .. ARGV[2]
redis.call('ZADD', KEYS[2], 0, ARGV[3])
if ttl > 0 then
  redis.call('SET', KEYS[1], value, 'PXAT', expires)
  redis.call('ZADD', KEYS[3], expires, ARGV[3])
  -- An index lives as long as the last of what is in it.
  if lives ~= -1 and lives < ttl then redis.call('PEXPIREAT', KEYS[2], expires + 1000) end
  if redis.call('PTTL', KEYS[3]) < ttl then redis.call('PEXPIREAT', KEYS[3], expires + 1000) end
else
  redis.call('SET', KEYS[1], value)
  redis.call('ZREM', KEYS[3], ARGV[3])
  redis.call('PERSIST', KEYS[2])
end

-- Each value that comes takes some that are gone out of the indexes.
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. now, 'LIMIT', 0, 8)) do
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
end
return 1

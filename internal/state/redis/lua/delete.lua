-- Forgets a value.
-- KEYS: the value, the space's index by key, the same by when values expire. ARGV: 1 key.
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1

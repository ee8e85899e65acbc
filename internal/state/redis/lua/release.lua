-- Gives places back. KEYS: the buckets. ARGV: the holders, in the same order.
for i, key in ipairs(KEYS) do
  redis.pcall('ZREM', key, ARGV[i]) -- a bucket of another kind has no places
end
return 1

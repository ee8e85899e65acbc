-- Reads values of a space by key, and forgets those that are no more.
-- KEYS: the space's index by key, the same by when values expire.
-- ARGV: 1 what keys of values begin with, 2 the key to go on behind, 3 how many to look at.
-- Returns whether there are more; the last key looked at; and of each value the key and
-- what is stored, each after the other.
local keys = redis.call('ZRANGEBYLEX', KEYS[1], '(' .. ARGV[2], '+', 'LIMIT', 0, ARGV[3])
if #keys == 0 then return {0, ''} end
local names = {}
for i, key in ipairs(keys) do names[i] = ARGV[1] .. key end
local values = redis.call('MGET', unpack(names))
local answer = {0, keys[#keys]}
if #keys == tonumber(ARGV[3]) then answer[1] = 1 end
for i, key in ipairs(keys) do
  if values[i] then
    answer[#answer + 1] = key
    answer[#answer + 1] = values[i]
  else
    redis.call('ZREM', KEYS[1], key)
    redis.call('ZREM', KEYS[2], key)
  end
end
return answer

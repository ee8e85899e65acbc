-- Takes tasks that are no more out of an index, a part of it at a time.
-- KEYS: the register of indexes. ARGV: 1 what keys of records begin with, 2 seconds until
--       an index is swept again, 3 how many to look at, 4 the index to go on with, or ''
--       for the next that is due, 5 the member to go on behind.
-- Returns the index, '' when none is due, and the member to go on behind, '' at its end.
local index, from = ARGV[4], '(' .. ARGV[5]
if index == '' then
  local now = tonumber(redis.call('TIME')[1])
  index, from = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1], '-'
  if not index then return {'', ''} end
  redis.call('ZADD', KEYS[1], now + ARGV[2], index)
end
local members = redis.call('ZRANGEBYLEX', index, from, '+', 'LIMIT', 0, ARGV[3])
for _, member in ipairs(members) do
  local created = redis.call('GETRANGE', ARGV[1] .. string.sub(member, 13), 1, 12)
  if created ~= string.sub(member, 1, 12) then redis.call('ZREM', index, member) end
end
if #members == tonumber(ARGV[3]) then return {index, members[#members]} end
if redis.call('EXISTS', index) == 0 then redis.call('ZREM', KEYS[1], index) end
return {index, ''}

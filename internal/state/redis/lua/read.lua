-- Reads entries of a log.
-- KEYS: the log. ARGV: 1 number of the entry to go on behind, 2 how many to read.
-- Returns the id of the newest, how many there are, the id of the first that was read, or
-- '', and the data of those that were; nothing of a log that is not there.
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not newest then return {} end
local answer = {newest[1], redis.call('XLEN', KEYS[1]), ''}
if ARGV[2] == '0' then return answer end
for i, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])) do
  if i == 1 then answer[3] = entry[1] end
  if entry[2][1] ~= 'd' then return redis.error_reply('BADRECORD a log has an entry of another form') end
  answer[3 + i] = entry[2][2]
end
return answer

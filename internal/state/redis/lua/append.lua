-- Appends to a log if it ends where its writer thinks, and says whether it does.
-- KEYS: the log. ARGV: 1 number of the entry to append behind, 2 time to live in ms,
--       3 how many entries are kept at most, 4 how many bytes of them, then the entries.
-- An entry is a field d of its data and a field s of the bytes of all entries so far,
-- itself included: the two ends of a log tell how much it has.
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local id, number, sum = '0-0', 0, 0
if newest then
  id = newest[1]
  number, sum = tonumber(string.match(id, '^(%d+)%-0$')), tonumber(newest[2][4])
  if not number or not sum then return redis.error_reply('BADRECORD a log has an entry of another form') end
end
if id ~= ARGV[1] .. '-0' then return 0 end
for i = 5, #ARGV do
  number, sum = number + 1, sum + #ARGV[i]
  id = string.format('%.0f-0', number)
  redis.call('XADD', KEYS[1], id, 'd', ARGV[i], 's', string.format('%.0f', sum))
end
if number == 0 then return 1 end

local from, look, most = '-', 1, tonumber(ARGV[4])
redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[3])
while true do
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', look)) do
    from = entry[1]
    local kept = sum - tonumber(entry[2][4]) + #entry[2][2]
    if kept <= most or from == id then
      redis.call('XTRIM', KEYS[1], 'MINID', from)
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
      return 1
    end
  end
  from, look = '(' .. from, 64
end

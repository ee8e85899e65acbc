-- Makes a step of a task if it is where the step begins, and returns where it is then.
-- KEYS: the step. ARGV: 1 retention in ms, 2 from, 3 to; '' is no state.
local at = redis.call('GET', KEYS[1]) or ''
if at ~= ARGV[2] or at == ARGV[3] then
  if at ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
  return at
end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[1])
end
return ARGV[3]

-- One operation on a queue.
-- KEYS: 1 hash of items by id, 2 hash of their data; sorted sets: 3 ids of those that wait,
--       4 the same by when they were pushed, 5 lines by when their first is due, unless it
--       is leased, 6 lines by when the lease of their first ends, 7 ids of the dead, 8 the
--       same by when they are forgotten; 9 number of the latest item; for a push also 10
--       its line.
-- ARGV: 1 the operation, 2 what keys of lines begin with, then what the operation has.
-- Of each line there are a sorted set of those that wait, by number, and a set of the dead;
-- of each owner, who stands before the first slash of a line, a sorted set of the ids of those
-- that wait, and one of the dead by when they are forgotten.
-- Times are in Unix µs, which Lua and scores hold up to 2^53.
--
-- What reads comes before what writes, so that an operation that finds something wrong
-- has done nothing. What takes and settles begins with a write that a server without
-- memory does, and the rest then runs: how else would a queue get shorter.
local items, data, ids, ages, free, leases, dead, graves, last = unpack(KEYS)
local call, bad = redis.call, {}

local function waiting(line) return ARGV[2] .. 'line:' .. line end
local function buried(line) return ARGV[2] .. 'dead:' .. line end

-- owner is whose a line is; nil for nobody's.
local function owner(line) return string.match(line, '^([^/]+)/') end
local function pending(of) return ARGV[2] .. 'owner:' .. of end
local function lost(of) return ARGV[2] .. 'owner-dead:' .. of end

-- load is how many there are, and once more those of an owner.
local function load(all, of, own)
  return call('ZCARD', all) + (of and call('ZCARD', own(of)) or 0)
end

-- tidy takes out of an owner's set of those that wait what does so no more: gateways of before
-- there were owners leave it behind, wherever it stands among the others. It ends where of
-- some, taken at random, all wait.
local function tidy(of)
  local gone
  repeat
    gone = 0
    for _, id in ipairs(call('ZRANDMEMBER', pending(of), 64)) do
      if not call('ZSCORE', ids, id) then gone = gone + call('ZREM', pending(of), id) end
    end
  until gone == 0
end

-- eldest is who of an owner's dead is forgotten first. What is dead no more, and such
-- gateways leave behind too, is taken out on the way.
local function eldest(of)
  while true do
    local id = call('ZRANGE', lost(of), 0, 0)[1]
    if not id or call('ZSCORE', dead, id) then return id end
    call('ZREM', lost(of), id)
  end
end

-- read finds an item: {form, line, pushed, due, attempts, failure, holder}, or nothing.
local function read(id)
  local packed = call('HGET', items, id)
  if not packed then return nil end
  local ok, t, more = pcall(cmsgpack.unpack, packed)
  if not ok or more ~= nil or type(t) ~= 'table' or t[1] ~= 1 or #t ~= 7 then error(bad) end
  return {id = id, line = t[2], pushed = t[3], due = t[4], attempts = t[5], failure = t[6], holder = t[7]}
end

local function store(it)
  call('HSET', items, it.id, cmsgpack.pack({1, it.line, it.pushed, it.due, it.attempts, it.failure, it.holder}))
end

-- first finds the item that leads a line in which somebody waits.
local function first(line)
  return read(call('ZRANGE', waiting(line), 0, 0)[1] or '') or error(bad)
end

-- enter puts an item at the end of its line.
local function enter(it)
  local alone = call('EXISTS', waiting(it.line)) == 0
  store(it)
  call('ZADD', waiting(it.line), call('INCR', last), it.id)
  call('ZADD', ids, 0, it.id)
  call('ZADD', ages, it.pushed, it.id)
  local of = owner(it.line)
  if of then call('ZADD', pending(of), 0, it.id) end
  if alone then call('ZADD', free, it.due, it.line) end
end

-- leave takes an item that waits out of its line.
local function leave(it)
  local lead = call('ZRANGE', waiting(it.line), 0, 1)
  local after = lead[1] == it.id and lead[2] and (read(lead[2]) or error(bad))
  call('ZREM', waiting(it.line), it.id)
  call('ZREM', ids, it.id)
  call('ZREM', ages, it.id)
  local of = owner(it.line)
  if of then call('ZREM', pending(of), it.id) end
  if lead[1] ~= it.id then return end
  call('ZREM', free, it.line)
  call('ZREM', leases, it.line)
  if after then call('ZADD', free, after.due, it.line) end
end

-- unbury takes an item from the dead.
local function unbury(it)
  call('ZREM', dead, it.id)
  call('ZREM', graves, it.id)
  call('SREM', buried(it.line), it.id)
  local of = owner(it.line)
  if of then call('ZREM', lost(of), it.id) end
end

local function forget(it)
  call('HDEL', items, it.id)
  call('HDEL', data, it.id)
end

-- held finds the item ARGV[4] if it is the holder's, ARGV[3].
local function held()
  local it = read(ARGV[4])
  if it and it.holder ~= '' and it.holder == ARGV[3] then return it end
end

-- fail notes a try of an item that came to ARGV[6].
local function fail(it)
  it.attempts, it.failure, it.holder = it.attempts + 1, ARGV[6], ''
  store(it)
end

-- tell adds an item to an answer.
local function tell(answer, it)
  for _, field in ipairs({it.id, it.line, call('HGET', data, it.id) or '', it.pushed, it.due, it.attempts, it.failure}) do
    answer[#answer + 1] = field
  end
end

local queue = {}

-- 3 id, 4 line, 5 data, 6 pushed, 7 due, 8 how many may wait, 0 for any number.
-- Returns 1, or 0 where one of that id is, or -1 where there is no room.
function queue.push()
  if call('HEXISTS', items, ARGV[3]) == 1 then return 0 end
  local most = tonumber(ARGV[8])
  local of = owner(ARGV[4])
  if most > 0 and load(ids, of, pending) >= most then
    if of then tidy(of) end
    if load(ids, of, pending) >= most then return -1 end
  end
  enter({id = ARGV[3], line = ARGV[4], pushed = tonumber(ARGV[6]), due = tonumber(ARGV[7]),
    attempts = 0, failure = '', holder = ''})
  call('HSET', data, ARGV[3], ARGV[5])
  return 1
end

-- 3 holder, 4 now, 5 until when, 6 how many, 7 how many of the dead to forget.
function queue.take()
  for _, id in ipairs(call('ZRANGEBYSCORE', graves, '-inf', ARGV[4], 'LIMIT', 0, ARGV[7])) do
    local it = read(id) or error(bad)
    unbury(it)
    forget(it)
  end
  for _, line in ipairs(call('ZRANGEBYSCORE', leases, '-inf', ARGV[4])) do
    local it = first(line)
    call('ZREM', leases, line)
    call('ZADD', free, it.due, line)
  end
  local answer = {}
  for _, line in ipairs(call('ZRANGEBYSCORE', free, '-inf', ARGV[4], 'LIMIT', 0, ARGV[6])) do
    local it = first(line)
    call('ZREM', free, line)
    it.holder = ARGV[3]
    store(it)
    call('ZADD', leases, ARGV[5], line)
    tell(answer, it)
  end
  return answer
end

-- 3 holder, 4 id. Returns whether it was held, as the next two do.
function queue.done()
  local it = held()
  if not it then return 0 end
  leave(it)
  forget(it)
  return 1
end

-- 3 holder, 4 id, 5 due, 6 failure.
function queue.again()
  local it = held()
  if not it then return 0 end
  call('ZREM', leases, it.line)
  it.due = tonumber(ARGV[5])
  fail(it)
  call('ZADD', free, it.due, it.line)
  return 1
end

-- 3 holder, 4 id, 5 until when it is remembered, 6 failure, 7 how many dead there may be, 0
-- for any number.
function queue.bury()
  local it = held()
  if not it then return 0 end
  call('EXISTS', buried(it.line))
  leave(it)
  fail(it)
  call('ZADD', dead, 0, it.id)
  call('ZADD', graves, ARGV[5], it.id)
  call('SADD', buried(it.line), it.id)
  local of, most = owner(it.line), tonumber(ARGV[7])
  if not of then return 1 end
  call('ZADD', lost(of), ARGV[5], it.id)
  if most == 0 or load(dead, of, lost) <= most + 1 then return 1 end
  local id = eldest(of)
  if load(dead, of, lost) > most + 1 then
    local oldest = read(id) or error(bad)
    unbury(oldest)
    forget(oldest)
  end
  return 1
end

-- 3 id, 4 now.
function queue.revive()
  local ends = call('ZSCORE', graves, ARGV[3])
  if not ends or tonumber(ends) <= tonumber(ARGV[4]) then return 0 end
  local it = read(ARGV[3]) or error(bad)
  it.due, it.attempts, it.failure = tonumber(ARGV[4]), 0, ''
  enter(it)
  unbury(it)
  return 1
end

-- 3 id.
function queue.remove()
  local it = read(ARGV[3])
  if not it then return 0 end
  if call('ZSCORE', graves, it.id) then unbury(it) else leave(it) end
  forget(it)
  return 1
end

-- 3 line. Returns how many were in it.
function queue.clear()
  local function drop(list, keys)
    for from = 1, #list, 1000 do
      local part = {unpack(list, from, math.min(from + 999, #list))}
      for _, key in ipairs(keys) do call('ZREM', key, unpack(part)) end
      call('HDEL', items, unpack(part))
      call('HDEL', data, unpack(part))
    end
    return #list
  end
  local alive, gone = call('ZRANGE', waiting(ARGV[3]), 0, -1), call('SMEMBERS', buried(ARGV[3]))
  call('DEL', waiting(ARGV[3]), buried(ARGV[3]))
  call('ZREM', free, ARGV[3])
  call('ZREM', leases, ARGV[3])
  local of = owner(ARGV[3])
  return drop(alive, {ids, ages, of and pending(of)}) + drop(gone, {dead, graves, of and lost(of)})
end

-- 3 'dead' or 'waiting', 4 the id to go on behind, 5 how many.
function queue.items()
  local answer = {}
  for _, id in ipairs(call('ZRANGEBYLEX', ARGV[3] == 'dead' and dead or ids, '(' .. ARGV[4], '+', 'LIMIT', 0, ARGV[5])) do
    tell(answer, read(id) or error(bad))
  end
  return answer
end

-- 3 now. Returns how many wait, how many are dead, and when the oldest was pushed.
function queue.depth()
  local oldest = call('ZRANGE', ages, 0, 0, 'WITHSCORES')[2] or 0
  return {call('ZCARD', ids), call('ZCARD', dead) - call('ZCOUNT', graves, '-inf', ARGV[3]), tonumber(oldest)}
end

local ok, answer = pcall(queue[ARGV[1]])
if ok then return answer end
if answer == bad then return redis.error_reply('BADRECORD an item is stored in a form of another version') end
return error(answer, 0)

-- Takes from all buckets, or from none.
-- KEYS: the buckets, one for each draw.
-- ARGV: of each draw 1 kind, 2 'soft' or '', 3 limit, then what its kind has:
--   rate   4 cost, 5 refill, 6 period in µs
--   quota  4 cost, 5 until in Unix µs, 6 ''
--   hold   4 holder, 5 time to live in µs, 6 ''
-- Returns of each draw whether it had enough, what is left, and how long until the same
-- succeeds and until all is there again, both in µs. Numbers are text, as a reply has none
-- above 2^53.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lag = 3600000 -- ms that the clocks of those who share a quota may lie apart

-- stored reads two numbers and throws away what another kind has left behind.
local function stored(key, kind)
  local value = redis.pcall('GET', key)
  if type(value) == 'string' and #value == 17 and string.sub(value, 1, 1) == kind then
    local a, b = struct.unpack('>dd', value, 2)
    if a >= 0 and b >= 0 then return a, b end -- NaN is neither
  end
  if value then redis.call('DEL', key) end
end

local function store(key, kind, a, b, ms)
  redis.call('SET', key, kind .. struct.pack('>dd', a, b), 'PX', string.format('%.0f', math.max(ms, 1)))
end

local rate, quota, hold = {}, {}, {}

-- Of a rate are stored the units in use and when that was.
function rate.read(d)
  d.cost, d.limit, d.span = tonumber(d[4]), tonumber(d[3]), tonumber(d[6]) / tonumber(d[5])
  local used, at = stored(d.key, 'r')
  d.used = 0
  if used then d.used = math.max(math.min(used, d.limit) - math.max(now - at, 0) / d.span, 0) end
  d.ok, d.wait = d.used + d.cost <= d.limit + 1e-6, 0
  if not d.ok and d.cost <= d.limit then d.wait = (d.used + d.cost - d.limit) * d.span end
end

function rate.take(d)
  d.used = d.used + d.cost
  store(d.key, 'r', d.used, now, d.used * d.span / 1000 + 1000)
end

function rate.stand(d)
  return math.floor(math.max(d.limit - d.used, 0) + 1e-6), d.used * d.span
end

-- Of a quota are stored the units in use and the end of the span.
function quota.read(d)
  d.cost, d.limit, d.till = tonumber(d[4]), tonumber(d[3]), tonumber(d[5])
  local used, till = stored(d.key, 'q')
  d.used = 0
  if used and till >= d.till then d.used, d.till = used, till end
  d.rest = math.max(d.till - now, 0)
  d.ok, d.wait = d.cost <= d.limit - d.used, 0
  if not d.ok and d.cost <= d.limit then d.wait = d.rest end
end

function quota.take(d)
  d.used = d.used + d.cost
  store(d.key, 'q', d.used, d.till, d.rest / 1000 + lag)
end

function quota.stand(d)
  return math.max(d.limit - d.used, 0), d.rest
end

-- Places are members of a sorted set by when they run out.
local places = {}

function hold.read(d)
  d.limit, d.wait = tonumber(d[3]), 0
  if not places[d.key] then
    -- Nothing is removed yet: a server without memory has to refuse what is added first.
    local held = redis.pcall('ZCOUNT', d.key, '(' .. string.format('%.0f', now), '+inf')
    if type(held) == 'table' then
      redis.call('DEL', d.key)
      held = 0
    end
    places[d.key] = {held = held, reserved = 0}
  end
  local p, till = places[d.key], redis.call('ZSCORE', d.key, d[4])
  d.held = till and tonumber(till) > now
  d.ok = d.held or p.held + p.reserved < d.limit
  if d.ok and not d.held then p.reserved = p.reserved + 1 end
end

function hold.take(d)
  local ttl = tonumber(d[5])
  redis.call('ZADD', d.key, now + ttl, d[4])
  redis.call('ZREMRANGEBYSCORE', d.key, '-inf', now)
  local ms = math.ceil(ttl / 1000) + 1000
  if redis.call('PTTL', d.key) < ms then redis.call('PEXPIRE', d.key, string.format('%.0f', ms)) end
  if not d.held then places[d.key].held = places[d.key].held + 1 end
end

function hold.stand(d)
  return math.max(d.limit - places[d.key].held, 0), 0
end

local kinds, draws, all = {rate = rate, quota = quota, hold = hold}, {}, true
for i, key in ipairs(KEYS) do
  local d = {key = key}
  for n = 1, 6 do d[n] = ARGV[(i - 1) * 6 + n] end
  kinds[d[1]].read(d)
  all = all and (d.ok or d[2] == 'soft')
  draws[i] = d
end
if all then
  for _, d in ipairs(draws) do
    if d.ok then kinds[d[1]].take(d) end
  end
end
local answer = {}
for i, d in ipairs(draws) do
  local left, reset = kinds[d[1]].stand(d)
  local text = d.ok and '1' or '0'
  for _, n in ipairs({left, math.ceil(d.wait), math.ceil(reset)}) do
    text = text .. ' ' .. string.format('%.0f', n)
  end
  answer[i] = text
end
return answer

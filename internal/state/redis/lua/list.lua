-- Reads tasks of one index from the newest on, and forgets those that are no more.
-- KEYS: the index. ARGV: 1 what keys of records begin with, 2 bound of the members,
--       3 how many to look at, 4 how many to return, 5 versions of the form, a byte each,
--       6 their context, or '' for any, 7 the owner whose tasks to leave out, or ''.
-- Returns the member to go on behind, '' at the end; how many were found; and of those to
-- return the id and the record, each after the other.
local members = redis.call('ZREVRANGEBYLEX', KEYS[1], ARGV[2], '-', 'LIMIT', 0, ARGV[3])
if #members == 0 then return {'', 0} end
local keys = {}
for i, member in ipairs(members) do keys[i] = ARGV[1] .. string.sub(member, 13) end
local records = redis.call('MGET', unpack(keys))

local function text(record, at)
  local size = struct.unpack('>I4', record, at)
  return string.sub(record, at + 4, at + 3 + size), at + 4 + size
end

local function wanted(record)
  local context, at = text(record, 14)
  if ARGV[6] ~= '' and context ~= ARGV[6] then return false end
  return ARGV[7] == '' or text(record, at) ~= ARGV[7]
end

local most, count, answer, last = tonumber(ARGV[4]), 0, {'', 0}, nil
for i, member in ipairs(members) do
  local record = records[i]
  if not record or string.sub(record, 2, 13) ~= string.sub(member, 1, 12) then
    redis.call('ZREM', KEYS[1], member)
  elseif not string.find(ARGV[5], string.sub(record, 1, 1), 1, true) then
    return redis.error_reply('BADRECORD a task is recorded in a form of another version')
  elseif wanted(record) then
    count = count + 1
    if most > 0 then
      answer[#answer + 1] = string.sub(member, 13)
      answer[#answer + 1] = record
      if count == most then last = member break end
    end
  end
end
if not last and #members == tonumber(ARGV[3]) then last = members[#members] end
answer[1], answer[2] = last or '', count
return answer

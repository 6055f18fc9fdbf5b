// Scripts that Redis runs for the leases of repositories and for their journals, each in one step.

import { createHash } from 'node:crypto';

/** Redis keeps it by its hash. */
export type Script = { readonly text: string; readonly hash: string };

function script(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}

/**
 * KEYS: lease, counter. ARGV: token, host, since, token of an earlier lease of this state directory, ms, address, number of an
 * earlier holder. Gives the holder, or nothing where that number is forgotten.
 */
export const TAKE_LEASE = script(`
local held = redis.call('HMGET', KEYS[1], 'token', 'host', 'since', 'fence', 'address')
if held[1] and not (held[1] == ARGV[4] and held[2] == ARGV[2]) then return held end
local count = tonumber(redis.call('GET', KEYS[2]) or 0)
if count < tonumber(ARGV[7]) then return false end
-- A store that forgot the counter goes on from its clock, in ms.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = math.max(count, now)
redis.call('SET', KEYS[2], string.format('%.0f', last))
local fence = string.format('%.0f', redis.call('INCR', KEYS[2]))
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'host', ARGV[2], 'since', ARGV[3], 'fence', fence, 'address', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return {ARGV[1], ARGV[2], ARGV[3], fence, ARGV[6]}`);

/**
 * KEYS: lease, counter. ARGV: token, host, since, fence, ms, address. A store that forgot the lease gets it again, unless it
 * gave a later one since. Gives 0 where it is another's.
 */
export const RENEW_LEASE = script(`
local held = redis.call('HMGET', KEYS[1], 'token', 'address')
if held[1] and held[1] ~= ARGV[1] then return 0 end
if not held[1] and tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[4]) then return 0 end
if not held[1] then redis.call('SET', KEYS[2], ARGV[4]) end
if not held[1] or held[2] ~= ARGV[6] then
  redis.call('HSET', KEYS[1], 'token', ARGV[1], 'host', ARGV[2], 'since', ARGV[3], 'fence', ARGV[4], 'address', ARGV[6])
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1`);

/** KEYS: lease. ARGV: token. */
export const RELEASE_LEASE = script(`
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`);

/** Begins a script that only the holder of the lease may run. KEYS: lease, journal. ARGV: token, fence, place. */
const HOLDER = `
local held = redis.call('HMGET', KEYS[1], 'token', 'fence')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 'lease_lost' end
local function name(place) return string.format('%.0f', place) end
local at = tonumber(ARGV[3])`;

/** A journal is a hash: lines by their places, beside `first` and `next`. ARGV: token, fence, place, lines. */
export const APPEND_JOURNAL = script(`${HOLDER}
local count = #ARGV - 3
local next = tonumber(redis.call('HGET', KEYS[2], 'next') or 0)
if at + count <= next then
  for index = 1, count do
    if redis.call('HGET', KEYS[2], name(at + index - 1)) ~= ARGV[3 + index] then return 'elsewhere' end
  end
  return 'done'
end
if at ~= next then return 'elsewhere' end
local fields = {'next', name(at + count)}
for index = 1, count do
  fields[#fields + 1] = name(at + index - 1)
  fields[#fields + 1] = ARGV[3 + index]
end
redis.call('HSET', KEYS[2], unpack(fields))
return 'done'`);

/** ARGV: token, fence, place, line. */
export const COMPACT_JOURNAL = script(`${HOLDER}
local ends = redis.call('HMGET', KEYS[2], 'first', 'next')
local first = tonumber(ends[1] or 0)
if at <= first or at > tonumber(ends[2] or 0) then return 'elsewhere' end
redis.call('HSET', KEYS[2], 'first', name(at - 1), name(at - 1), ARGV[4])
for place = first, at - 2 do redis.call('HDEL', KEYS[2], name(place)) end
return 'done'`);

/** KEYS: journal. ARGV: place, count. Gives `first`, `next`, and the lines. */
export const READ_JOURNAL = script(`
local ends = redis.call('HMGET', KEYS[1], 'first', 'next')
local first, next = tonumber(ends[1] or 0), tonumber(ends[2] or 0)
local read = {string.format('%.0f', first), string.format('%.0f', next)}
local from = math.max(first, tonumber(ARGV[1]))
for place = from, math.min(next, from + tonumber(ARGV[2])) - 1 do
  read[#read + 1] = redis.call('HGET', KEYS[1], string.format('%.0f', place))
end
return read`);

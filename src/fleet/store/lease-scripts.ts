// Scripts that Redis runs for the leases of repositories, each in one step.

/** KEYS: lease, counter. ARGV: token, host, since, token of an earlier lease of this state directory, ms. Gives the holder. */
export const TAKE_LEASE = `
local held = redis.call('HMGET', KEYS[1], 'token', 'host', 'since', 'fence')
if held[1] and not (held[1] == ARGV[4] and held[2] == ARGV[2]) then return held end
-- A store that forgot the counter goes on from its clock, in ms.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = math.max(tonumber(redis.call('GET', KEYS[2]) or 0), now)
redis.call('SET', KEYS[2], string.format('%.0f', last))
local fence = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'host', ARGV[2], 'since', ARGV[3], 'fence', string.format('%.0f', fence))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return {ARGV[1], ARGV[2], ARGV[3], string.format('%.0f', fence)}`;

/** KEYS: lease. ARGV: token, host, since, fence, ms. A store that forgot the lease gets it again. Gives 0 where it is another's. */
export const RENEW_LEASE = `
local token = redis.call('HGET', KEYS[1], 'token')
if token and token ~= ARGV[1] then return 0 end
if not token then
  redis.call('HSET', KEYS[1], 'token', ARGV[1], 'host', ARGV[2], 'since', ARGV[3], 'fence', ARGV[4])
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1`;

/** KEYS: lease. ARGV: token. */
export const RELEASE_LEASE = `
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

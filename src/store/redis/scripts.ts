// What Redis does in one step, in its own language. Each script touches keys of one slot, takes the time from the
// server, and leaves no key without an expiry.

const NOW = `
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]`;

/** The window's calls, oldest first, as microseconds that never go back. Answers how long to wait, in ms; 0: counted. */
const countCall = `${NOW}
  local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
  now = math.max(now, tonumber(redis.call('LINDEX', key, -1) or 0))
  local function at(index) return tonumber(redis.call('LINDEX', key, index)) end
  local count = redis.call('LLEN', key)
  while count > 0 and at(0) <= now - window * 1000 do
    redis.call('LPOP', key)
    count = count - 1
  end
  if count >= limit then
    if limit <= 0 then return window end
    return math.max(1, math.ceil((at(count - limit) - now) / 1000 + window))
  end
  redis.call('RPUSH', key, now)
  redis.call('PEXPIRE', key, window)
  return 0`;

/** The fence of the lease, or nothing where somebody else holds it. The second key remembers the last fence. */
const acquireLease = `
  local holder, fence = unpack(redis.call('HMGET', KEYS[1], 'holder', 'fence'))
  if holder and holder ~= ARGV[1] then return false end
  if not holder then
    ${NOW}
    fence = math.max(now, (redis.call('GET', KEYS[2]) or 0) + 1)
    redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'fence', fence)
    redis.call('SET', KEYS[2], fence, 'PX', ARGV[3])
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return tonumber(fence)`;

const IS_HELD = `
  local holder, fence = unpack(redis.call('HMGET', KEYS[1], 'holder', 'fence'))
  if holder ~= ARGV[1] or fence ~= ARGV[2] then return 0 end`;
const renewLease = `${IS_HELD} return redis.call('PEXPIRE', KEYS[1], ARGV[3])`;
const releaseLease = `${IS_HELD} return redis.call('DEL', KEYS[1])`;

/** At the end (RPUSH) or at the head (LPUSH); the queue lives as long as the longest of its messages asks for. */
const pushMessages = `
  local left = redis.call('PTTL', KEYS[1])
  redis.call(ARGV[1], KEYS[1], unpack(ARGV, 5))
  if tonumber(ARGV[2]) > left then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  redis.call('PUBLISH', ARGV[3], ARGV[4])`;

/** With how long the queue had to live: who cannot use a message after all puts it back for that time. */
const popMessages = `
  local left = redis.call('PTTL', KEYS[1])
  if left == -2 then return false end
  return { left, redis.call('LPOP', KEYS[1], ARGV[1]) }`;

const PRESENT = `${NOW}
  now = math.floor(now / 1000)
  local present = {}
  local fields = redis.call('HGETALL', KEYS[1])
  for index = 1, #fields, 2 do
    local name, expiresAt, says = fields[index], unpack(cjson.decode(fields[index + 1]))
    if expiresAt > now then
      present[#present + 1] = { name, says }
    else
      redis.call('HDEL', KEYS[1], name)
    end
  end`;
const listPresent = `${PRESENT} return present`;
const announcePresence = `${PRESENT}
  local name, says, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
  local left = redis.call('PTTL', KEYS[1])
  redis.call('HSET', KEYS[1], name, cjson.encode({ now + ttl, says }))
  if ttl > left then redis.call('PEXPIRE', KEYS[1], ttl) end`;

export const SCRIPTS = {
  countCall: { lua: countCall, numberOfKeys: 1 },
  acquireLease: { lua: acquireLease, numberOfKeys: 2 },
  renewLease: { lua: renewLease, numberOfKeys: 1 },
  releaseLease: { lua: releaseLease, numberOfKeys: 1 },
  pushMessages: { lua: pushMessages, numberOfKeys: 1 },
  popMessages: { lua: popMessages, numberOfKeys: 1 },
  listPresent: { lua: listPresent, numberOfKeys: 1 },
  announcePresence: { lua: announcePresence, numberOfKeys: 1 },
};

/** The scripts as the driver's client has them. */
export interface Scripts {
  countCall(key: string, limit: number, windowMs: number): Promise<number>;
  acquireLease(
    key: string,
    fenceKey: string,
    holder: string,
    ttlMs: number,
    fenceTtlMs: number,
  ): Promise<number | null>;
  renewLease(key: string, holder: string, fence: number, ttlMs: number): Promise<number>;
  releaseLease(key: string, holder: string, fence: number): Promise<number>;
  pushMessages(
    key: string,
    end: 'RPUSH' | 'LPUSH',
    ttlMs: number,
    channel: string,
    queue: string,
    ...messages: string[]
  ): Promise<unknown>;
  popMessages(key: string, most: number): Promise<[leftMs: number, messages: string[]] | null>;
  listPresent(key: string): Promise<[name: string, says: string][]>;
  announcePresence(key: string, name: string, says: string, ttlMs: number): Promise<unknown>;
}

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

/**
 * The fence of the lease, or nothing where somebody else holds it, but for the one whom it may be taken from. The second
 * key remembers the last fence.
 */
const acquireLease = `
  local holder, fence = unpack(redis.call('HMGET', KEYS[1], 'holder', 'fence'))
  local isMine = holder == ARGV[1]
  if holder and not isMine and (holder ~= ARGV[4] or fence ~= ARGV[5]) then return false end
  if not isMine then
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

/**
 * With how many are left, and how long the queue had to live: who cannot use a message after all puts it back for that
 * time.
 */
const popMessages = `
  local lives = redis.call('PTTL', KEYS[1])
  if lives == -2 then return false end
  return { lives, redis.call('LPOP', KEYS[1], ARGV[1]), redis.call('LLEN', KEYS[1]) }`;

const PRESENT = `${NOW}
  now = math.floor(now / 1000)
  local present = {}
  local fields = redis.call('HGETALL', KEYS[1])
  for index = 1, #fields, 2 do
    local name, expiresAt, says = fields[index], unpack(cjson.decode(fields[index + 1]))
    if expiresAt > now then
      present[#present + 1] = { name, says, expiresAt - now }
    else
      redis.call('HDEL', KEYS[1], name)
    end
  end`;
const listPresent = `${PRESENT} return present`;
const announcePresence = `${PRESENT}
  local name, says, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
  local left = redis.call('PTTL', KEYS[1])
  local wasThere = redis.call('HEXISTS', KEYS[1], name)
  redis.call('HSET', KEYS[1], name, cjson.encode({ now + ttl, says }))
  if ttl > left then redis.call('PEXPIRE', KEYS[1], ttl) end
  return wasThere`;

const tally = `
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
/** Name and count in turn. */
const listTallies = `return redis.call('HGETALL', KEYS[1])`;

/**
 * A journal is a list of lines: its name, a number, a text. The numbers are microseconds that never go back. The first line
 * has no text, or is one that need not be kept any more: it is there to tell what is behind it.
 */
const LINES = `
  local function numberOf(line) return tonumber(string.match(line, ' (%d+) ')) end
  local function add(name, number, text)
    redis.call('RPUSH', KEYS[1], name .. string.format(' %.0f ', number) .. text)
  end`;
const keepJournal = `${NOW}${LINES}
  local ttl = tonumber(ARGV[2])
  if redis.call('EXISTS', KEYS[1]) == 0 then add(ARGV[1], now, '') end
  local second = redis.call('LINDEX', KEYS[1], 1)
  while second and numberOf(second) <= now - ttl * 1000 do
    redis.call('LPOP', KEYS[1])
    second = redis.call('LINDEX', KEYS[1], 1)
  end
  redis.call('PEXPIRE', KEYS[1], ttl)
  redis.call('PUBLISH', ARGV[3], ARGV[4])
  return redis.call('LINDEX', KEYS[1], -1)`;
const noteLines = `${NOW}${LINES}
  local last = redis.call('LINDEX', KEYS[1], -1)
  if not last then return end
  local number = math.max(now, numberOf(last) + 1)
  for index = 4, #ARGV do add(string.match(last, '^%S+'), number + index - 4, ARGV[index]) end
  redis.call('LTRIM', KEYS[1], -ARGV[3], -1)
  redis.call('PUBLISH', ARGV[1], ARGV[2])`;
/** From the end, because that is where who reads all the time stands. */
const readLines = `${LINES}
  local first, last = redis.call('LINDEX', KEYS[1], 0), redis.call('LINDEX', KEYS[1], -1)
  local name, after = ARGV[1], tonumber(ARGV[2])
  if not first or string.match(first, '^%S+') ~= name then return false end
  if after < numberOf(first) or after > numberOf(last) then return false end
  local most, lines = 16, {}
  repeat
    most = most * 4
    lines = redis.call('LRANGE', KEYS[1], -most, -1)
  until #lines < most or numberOf(lines[1]) <= after
  local behind = {}
  for _, line in ipairs(lines) do
    if numberOf(line) > after then behind[#behind + 1] = line end
  end
  return behind`;

/** A command of Redis' own: its name, then what comes after the key. */
const plain = `return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))`;

const JOURNAL_STEPS = {
  keepJournal: { lua: keepJournal, numberOfKeys: 1 },
  noteLines: { lua: noteLines, numberOfKeys: 1 },
  readLines: { lua: readLines, numberOfKeys: 1 },
};

/** What can be asked together with others. */
const STEPS = {
  countCall: { lua: countCall, numberOfKeys: 1 },
  acquireLease: { lua: acquireLease, numberOfKeys: 2 },
  renewLease: { lua: renewLease, numberOfKeys: 1 },
  releaseLease: { lua: releaseLease, numberOfKeys: 1 },
  pushMessages: { lua: pushMessages, numberOfKeys: 1 },
  listPresent: { lua: listPresent, numberOfKeys: 1 },
  announcePresence: { lua: announcePresence, numberOfKeys: 1 },
  tally: { lua: tally, numberOfKeys: 1 },
  listTallies: { lua: listTallies, numberOfKeys: 1 },
  ...JOURNAL_STEPS,
  plain: { lua: plain, numberOfKeys: 1 },
};
export type Step = keyof typeof STEPS;

/**
 * Several of the above, one after the other: for each its name, the number of its arguments and these; and the keys of
 * all of them. A fault of one ends it, and is the answer to all; one of a journal is the answer to that step alone, because
 * no order may fail for it.
 */
const together = `
  local steps = {}
  ${Object.entries(STEPS)
    .map(
      ([name, { lua, numberOfKeys }]) =>
        `steps['${name}'] = { ${numberOfKeys}, ${name in JOURNAL_STEPS}, function(KEYS, ARGV) ${lua}\n end }`,
    )
    .join('\n  ')}
  local function alone(run, keys, args)
    local isDone, answer = pcall(run, keys, args)
    if isDone then return answer end
    return redis.error_reply('ERR ' .. tostring(type(answer) == 'table' and answer.err or answer))
  end
  local answers, key, arg = {}, 1, 1
  while arg <= #ARGV do
    local keys, isOfJournal, run = unpack(steps[ARGV[arg]])
    local last = arg + 1 + ARGV[arg + 1]
    local itsKeys, itsArgs = { unpack(KEYS, key, key + keys - 1) }, { unpack(ARGV, arg + 2, last) }
    local answer
    if isOfJournal then answer = alone(run, itsKeys, itsArgs) else answer = run(itsKeys, itsArgs) end
    answers[#answers + 1] = answer or false
    key, arg = key + keys, last + 1
  end
  return answers`;

export const SCRIPTS = {
  ...STEPS,
  popMessages: { lua: popMessages, numberOfKeys: 1 },
  together: { lua: together },
};

/** The scripts as the driver's client has them. */
export interface Scripts extends Record<Step, (...keysAndArgs: (string | number)[]) => Promise<unknown>> {
  popMessages(
    key: string,
    most: number,
  ): Promise<[livesMs: number, messages: string[], remaining: number] | null>;
  together(numberOfKeys: number, ...keysAndArgs: (string | number)[]): Promise<unknown[]>;
}

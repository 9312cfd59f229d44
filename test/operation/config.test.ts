import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { type Config, ConfigError, readConfig } from '../../src/config/config.ts';
import { describeConfig, envExample } from '../../src/config/table.ts';
import { DEFAULT_PLANS } from '../../src/domain/orders/entitlement.ts';

const ipv4 = (address: string, prefix = 32) => ({ address, prefix, family: 'ipv4' });

// The contract's two tables, and what it says in passing: the variable, where it is found, its default.
const DEFAULTS: readonly (readonly [string, (config: Config) => unknown, unknown])[] = [
  ['HOST', (config) => config.http.host, '127.0.0.1'],
  ['PORT', (config) => config.http.port, 8080],
  ['BASE_URL', (config) => config.http.baseUrl, 'http://localhost:8080'],
  ['DATA_DIR', (config) => config.data.dir, './data'],
  ['DATABASE_URL', (config) => config.data.databaseUrl, undefined],
  ['AUDIT_DAYS', (config) => config.retention.auditMs, null],
  ['ORDER_DAYS', (config) => config.retention.orderMs, null],
  ['ROLE', (config) => config.role, 'all'],
  ['NODE_ENV', (config) => config.environment, 'development'],
  ['APP_KEY', (config) => config.keys.app, undefined],
  ['APP_KEY_PREVIOUS', (config) => config.keys.appPrevious, undefined],
  ['JWT_SECRET', (config) => config.keys.jwt, undefined],
  ['WORKER_KEY', (config) => config.keys.worker, undefined],
  ['WORKER_PUBLIC_KEY', (config) => config.keys.workerPublic, undefined],
  ['ACCESS_TOKEN_EXPIRE_MINUTES', (config) => config.auth.accessTokenMs, 30 * 60_000],
  ['REFRESH_TOKEN_EXPIRE_DAYS', (config) => config.auth.refreshTokenMs, 30 * 86_400_000],
  ['COOKIE_DOMAIN', (config) => config.auth.cookieDomain, undefined],
  [
    'ALLOWED_ORIGINS',
    (config) => config.http.allowedOrigins,
    ['http://localhost:8080', 'http://localhost:5173'],
  ],
  ['CAPTCHA_ENABLED', (config) => config.captcha, null],
  ['WAF_RATE_LIMIT', (config) => config.edge.rateLimit, 2000],
  ['MAX_CONNECTIONS', (config) => config.http.connections.inAll, 900],
  ['MAX_CONNECTIONS_PER_IP', (config) => config.http.connections.perAddress, 100],
  ['HEADERS_TIMEOUT_SECONDS', (config) => config.http.connections.headersMs, 10_000],
  ['SEND_TIMEOUT_SECONDS', (config) => config.http.connections.sendMs, 20_000],
  ['ALLOWED_HOSTS', (config) => config.http.allowedHosts, []],
  ['TRUSTED_PROXIES', (config) => config.http.trustedProxies, []],
  ['EDGE_CHECKS_CERTIFICATES', (config) => config.http.checksCertificates, false],
  [
    'ADMIN_IPS',
    (config) => config.edge.adminIps,
    [ipv4('127.0.0.0', 8), { address: '::1', prefix: 128, family: 'ipv6' }],
  ],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', (config) => config.tracing, null],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', (config) => config.tracing, null],
  ['OTEL_EXPORTER_OTLP_HEADERS', (config) => config.tracing, null],
  ['OTEL_SERVICE_NAME', (config) => config.tracing, null],
  ['OTEL_TRACES_SAMPLER_ARG', (config) => config.tracing, null],
  ['METRICS_PORT', (config) => config.edge.metrics.port, null],
  ['METRICS_IPS', (config) => config.edge.metrics.ips, readConfig({}).edge.adminIps],
  [
    'CHARTING_IPS',
    (config) => config.edge.chartingIps,
    ['52.89.214.238', '34.212.75.30', '54.218.53.128', '52.32.178.7'].map((address) => ipv4(address)),
  ],
  ['SMTP_URL', (config) => config.mail.smtpUrl, undefined],
  ['MAIL_FROM', (config) => config.mail.from, 'fillpath@localhost'],
  ['WORKER_IDLE_HOURS', (config) => config.workers.idleMs, 12 * 3_600_000],
  ['HOST_NAME', (config) => config.workers.hostName, undefined],
  ['WORKER_POOL_SIZE', (config) => config.workers.poolSize, 2],
  ['PLANS', (config) => config.plans, DEFAULT_PLANS],
  ['SEED_USER', (config) => config.seedUser, true],
  ['LOG_LEVEL', (config) => config.logLevel, 'info'],
  ['RESPONSE_WAIT_SECONDS', (config) => config.timings.responseWaitMs, 30_000],
  ['WORKER_START_TIMEOUT_SECONDS', (config) => config.workers.startTimeoutMs, 60_000],
  ['REVERSAL_POLLS', (config) => config.tries.reversalPolls, 10],
  ['REVERSAL_POLL_MS', (config) => config.timings.reversalPollMs, 500],
  ['FILL_FIRST_POLL_SECONDS', (config) => config.timings.fillFirstPollMs, 2_500],
  ['FILL_REQUEUE_SECONDS', (config) => config.timings.fillRequeueMs, 30_000],
  ['FILL_VISIBILITY_SECONDS', (config) => config.timings.fillVisibilityMs, 180_000],
  ['FILL_RETRIES', (config) => config.tries.fillRetries, 3],
  ['RATE_LIMIT_REQUESTS', (config) => config.rateLimit.requests, 60],
  ['RATE_LIMIT_WINDOW_SECONDS', (config) => config.rateLimit.windowMs, 60_000],
  ['EDGE_AUTH_LIMIT', (config) => config.edge.authLimit, 100],
  ['EDGE_WINDOW_SECONDS', (config) => config.edge.windowMs, 300_000],
  ['ENTRY_DEADLINE_SECONDS', (config) => config.timings.entryDeadlineMs, 60_000],
  ['EXIT_DEADLINE_SECONDS', (config) => config.timings.exitDeadlineMs, 300_000],
  ['POSITION_LAG_SECONDS', (config) => config.timings.positionLagMs, 30_000],
  ['PROTECT_SECONDS', (config) => config.timings.protectMs, 10_000],
  ['PROTECTION_SWEEP_SECONDS', (config) => config.timings.protectionSweepMs, 30_000],
  ['PROTECTION_FOLLOW_SECONDS', (config) => config.timings.protectionFollowMs, 2_000],
  ['WORKER_LEASE_SECONDS', (config) => config.workers.leaseMs, 1_500],
  ['BROKER_TIMEOUT_SECONDS', (config) => config.brokers.timeoutMs, 10_000],
  ['BROKER_READS_PER_MINUTE', (config) => config.brokers.readsPerMinute, 240],
  ['SIGNAL_DAYS', (config) => config.retention.signalMs, 90 * 86_400_000],
  ['BROKER_URLS', (config) => config.brokers.urls, {}],
  ['VERIFY_EMAIL', (config) => config.mail.verifyEmail, false],
  ['ALERT_INTERVAL_MINUTES', (config) => config.mail.alertIntervalMs, 30 * 60_000],
  ['NOTIFY_PRIVATE_NETWORKS', (config) => config.notify.privateNetworks, []],
  ['TELEGRAM_URL', (config) => config.notify.telegramUrl, 'https://api.telegram.org'],
  ['EDGE', (config) => config.edge.mode, 'builtin'],
];
/** Without a default that can be seen in the configuration. */
const OTHERS = [
  'REDIS_URL',
  'WORKER_ENV_FILE',
  'CAPTCHA_PROVIDER',
  'CAPTCHA_SECRET',
  'CAPTCHA_SITE_KEY',
  'CAPTCHA_VERIFY_URL',
  'CAPTCHA_BYPASS_USER_AGENTS',
];
const NAMES = [...DEFAULTS.map(([name]) => name), ...OTHERS];

const PRIVATE = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const { d: _, ...PUBLIC } = PRIVATE;
const OLD = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const APP_KEY = Buffer.alloc(32, 7).toString('base64url');
const JWT_SECRET = 'thirty-two characters and a few more';
const PRODUCTION = {
  NODE_ENV: 'production',
  APP_KEY,
  JWT_SECRET,
  ALLOWED_ORIGINS: 'https://fillpath.example',
};

function errorOf(env: Record<string, string>): ConfigError | null {
  try {
    readConfig(env);
    return null;
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
}

const problemsOf = (env: Record<string, string>): readonly string[] => errorOf(env)?.problems ?? [];

const variablesIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name = '']) => name).toSorted();

describe('defaults', () => {
  for (const [name, find, expected] of DEFAULTS)
    test(`${name} is ${JSON.stringify(expected) ?? 'not set'} unless told otherwise`, () => {
      assert.deepEqual(find(readConfig({})), expected);
      assert.deepEqual(find(readConfig({ [name]: '' })), expected, 'an empty text counts as unset');
    });

  test('every variable of the contract is in the help and in the example, and no other', () => {
    assert.deepEqual(variablesIn(describeConfig(), /^ {2}([A-Z_]+) /gm), NAMES.toSorted());
    assert.deepEqual(variablesIn(envExample(), /^# ([A-Z_]+)=/gm), NAMES.toSorted());
  });

  test('BASE_URL follows PORT, and the allowed origins and the sender follow BASE_URL', () => {
    assert.equal(readConfig({ PORT: '9000' }).http.baseUrl, 'http://localhost:9000');
    const { http, mail } = readConfig({ BASE_URL: 'https://Fillpath.example:443/trade/' });
    assert.equal(http.baseUrl, 'https://fillpath.example/trade');
    assert.deepEqual(http.allowedOrigins, ['https://fillpath.example', 'http://localhost:5173']);
    assert.equal(mail.from, 'fillpath@fillpath.example');
    assert.equal(readConfig({ BASE_URL: 'http://[::1]:8080' }).mail.from, 'fillpath@localhost');
  });

  test('in production nobody is seeded unless it is asked for', () => {
    assert.equal(readConfig(PRODUCTION).seedUser, false);
    assert.equal(readConfig({ ...PRODUCTION, SEED_USER: 'YES' }).seedUser, true);
  });

  test('the configuration cannot be changed, however deep', () => {
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    assert.ok(frozen(readConfig({ ...PRODUCTION, WORKER_KEY: JSON.stringify(PRIVATE) })));
  });
});

describe('.env.example', () => {
  test('is what the table says', () => {
    assert.equal(
      readFileSync(new URL('../../.env.example', import.meta.url), 'utf8'),
      envExample(),
      'make it anew: npm run env-example',
    );
  });

  test('with every line uncommented changes nothing', () => {
    const env = parseEnv(envExample().replace(/^# ([A-Z_]+=)/gm, '$1'));
    assert.equal(Object.keys(env).length, NAMES.length);
    assert.deepEqual(readConfig(env), readConfig({}));
  });
});

describe('values', () => {
  const right: readonly (readonly [Record<string, string>, (config: Config) => unknown, unknown])[] = [
    [{ FILL_FIRST_POLL_SECONDS: '0.05' }, (config) => config.timings.fillFirstPollMs, 50],
    [{ CAPTCHA_ENABLED: 'No' }, (config) => config.captcha, null],
    [
      { TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,192.0.2.1' },
      (config) => config.http.trustedProxies.length,
      3,
    ],
    [{ ADMIN_IPS: ',' }, (config) => config.edge.adminIps, []],
    [
      { ALLOWED_ORIGINS: 'HTTPS://A.example:443' },
      (config) => config.http.allowedOrigins,
      ['https://a.example'],
    ],
    [{ MAIL_FROM: 'Fillpath <a@b.example>' }, (config) => config.mail.from, 'Fillpath <a@b.example>'],
    [{ APP_KEY: `${APP_KEY}=` }, (config) => config.keys.app, APP_KEY],
    [{ WORKER_KEY: JSON.stringify(PRIVATE) }, (config) => config.keys.workerPublic, PUBLIC],
    [{ WORKER_KEY: JSON.stringify({ ...PRIVATE, kid: 'a' }) }, (config) => config.keys.worker, [PRIVATE]],
    [
      { WORKER_KEY: JSON.stringify({ keys: [PRIVATE, OLD] }) },
      (config) => [config.keys.worker, config.keys.workerPublic],
      [[PRIVATE, OLD], PUBLIC],
    ],
    [{ DATABASE_URL: 'postgresql:///fillpath?host=/run' }, (config) => config.data.databaseUrl?.length, 32],
    [{ LOG_LEVEL: 'silent' }, (config) => config.logLevel, 'silent'],
    [{ HOTS: '1', LOG_LEVLE: 'loud', PATH: '/bin' }, (config) => config.logLevel, 'info'],
  ];
  for (const [env, find, expected] of right)
    test(`${JSON.stringify(env).slice(0, 70)} is right`, () =>
      assert.deepEqual(find(readConfig(env)), expected));

  const wrong: Record<string, readonly string[]> = {
    PORT: ['80a', '-1', '65536', '1e3', ' 80', '8080.0', '0x50', '٣'],
    HOST: ['a b', 'http://localhost'],
    BASE_URL: ['localhost:8080', 'ftp://a', 'https://u:p@a', 'https://a?b'],
    NODE_ENV: ['prod', 'Production'],
    ROLE: ['everything'],
    RESPONSE_WAIT_SECONDS: ['0', '-1', '1e9', '99999999', 'Infinity', '.5', '0.0001'],
    RATE_LIMIT_REQUESTS: ['0', '1.5'],
    CAPTCHA_ENABLED: ['on', '2'],
    ALLOWED_ORIGINS: ['https://a/', '*', 'https://*.a', 'null', 'a.example', 'https://u@a', ','],
    TRUSTED_PROXIES: ['10.0.0.0/33', '10.0.0', '::/129', '1.2.3.4/', '1.2.3.4/8/8', 'fe80::1%eth0'],
    DATABASE_URL: ['mysql://a', 'postgres', 'postgres://'],
    SMTP_URL: ['http://a'],
    MAIL_FROM: ['nobody', 'a@b\r\nBcc: c@d'],
    APP_KEY: ['short', 'x'.repeat(43), `${APP_KEY}A`],
    JWT_SECRET: ['x'.repeat(31)],
    WORKER_KEY: [
      '{}',
      '[]',
      'null',
      '{',
      JSON.stringify(PUBLIC),
      JSON.stringify({ ...PRIVATE, crv: 'P-384' }),
      JSON.stringify({ ...PRIVATE, d: OLD.d }),
      JSON.stringify({ ...PRIVATE, x: PRIVATE.y }),
      '{"keys":[]}',
      '{"keys":{}}',
      JSON.stringify({ keys: [PRIVATE, PUBLIC] }),
      JSON.stringify({ keys: [null, PRIVATE] }),
      JSON.stringify([PRIVATE]),
    ],
    WORKER_PUBLIC_KEY: [
      '{}',
      JSON.stringify(PRIVATE),
      JSON.stringify({ keys: [PUBLIC] }),
      JSON.stringify({ ...PUBLIC, x: PUBLIC.y }),
    ],
    LOG_LEVEL: ['verbose'],
    COOKIE_DOMAIN: ['https://a', 'a;b'],
    BROKER_URLS: ['[]', 'http://x', '{"nobody":"http://x"}', '{"paper":"ftp://x"}', '{"paper":7}'],
    PLANS: ['[]', 'x', '{}', '{"pro":{"simulation_only":false,"daily_orders":1}}'],
    EDGE: ['cloud'],
  };
  for (const [name, values] of Object.entries(wrong))
    test(`${name} refuses ${values
      .map((value) => JSON.stringify(value))
      .join(' ')
      .slice(0, 60)}`, () => {
      for (const value of values)
        assert.match(problemsOf({ [name]: value })[0] ?? 'no problem', new RegExp(`^${name} must `), value);
    });

  test('a plan may say how many accounts, keys and addresses its users may make', () => {
    const free = { simulation_only: true, daily_orders: 1 };
    const plans = (room: object) => JSON.stringify({ free: { ...free, ...room } });
    const room = { accounts: 0, api_keys: 1000, allowed_ips: 7 };
    assert.deepEqual(readConfig({ PLANS: plans(room) }).plans.free, { ...free, ...room });
    for (const wrong of [{ accounts: -1 }, { api_keys: 1001 }, { allowed_ips: null }, { accounts: 1.5 }])
      assert.match(
        problemsOf({ PLANS: plans(wrong) })[0] ?? '',
        new RegExp(`${Object.keys(wrong)[0]} a whole number`),
      );
  });

  test('every problem of PLANS is named', () => {
    const plans = { starter: { simulation_only: 'no', daily_orders: -1 }, pro: 5, desk: { daily: null } };
    const problems = problemsOf({ PLANS: JSON.stringify(plans) });
    assert.equal(problems.length, 7);
    for (const part of ['"free"', '"starter"', '"pro"', '"desk"'])
      assert.ok(problems.some((problem) => problem.includes(part)));
  });
});

describe('problems', () => {
  test('are listed all at once, each with its variable, the value and what would be right', () => {
    const error = errorOf({
      PORT: '12abc',
      LOG_LEVEL: 'loud',
      ADMIN_IPS: '1.2.3.4, here',
      NODE_ENV: 'production',
    });
    assert.deepEqual(error?.message.split('\n'), [
      'The configuration has 6 problems:',
      '  PORT must be a whole number from 0 to 65535, not "12abc"',
      '  LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
      '  ADMIN_IPS must list IPv4 or IPv6 addresses or CIDR blocks, separated by commas, not "here"',
      '  APP_KEY is needed with NODE_ENV=production: encrypts webhook secrets at rest: 32 bytes in base64url',
      '  JWT_SECRET is needed with NODE_ENV=production: signs session tokens: 32 characters and up',
      '  ALLOWED_ORIGINS is needed with NODE_ENV=production: origins whose pages may use the API with credentials, separated by commas',
    ]);
  });

  test('never show a secret, not even one in the wrong place', () => {
    const secret = 'hunter2-hunter2';
    const message = errorOf({
      APP_KEY: secret,
      JWT_SECRET: secret,
      DATABASE_URL: `mysql://user:${secret}@host`,
      REDIS_URL: `reddis://:${secret}@host`,
      SMTP_URL: `smpt://user:${secret}@host`,
      BASE_URL: `https://user:${secret}@host`,
      ALLOWED_ORIGINS: `https://user:${secret}@host`,
      WORKER_KEY: `{"d":"${secret}"}`,
      WORKER_PUBLIC_KEY: JSON.stringify({ ...PUBLIC, d: secret }),
    })?.message;
    assert.ok(message);
    assert.ok(!message.includes(secret), message);
    assert.ok(message.includes('9 problems'), message);
  });

  const needs = (env: Record<string, string>, names: readonly string[]) =>
    assert.deepEqual(
      problemsOf(env).map((problem) => problem.split(/[ :]/)[0]),
      names,
    );

  test('production demands its keys and origins, and nothing more', () => {
    needs({ NODE_ENV: 'production' }, ['APP_KEY', 'JWT_SECRET', 'ALLOWED_ORIGINS']);
    needs(PRODUCTION, []);
  });

  test('a split role demands the database, Redis and its key', () => {
    needs({ ROLE: 'verifier' }, ['DATABASE_URL', 'REDIS_URL']);
    needs({ ROLE: 'worker' }, ['DATABASE_URL', 'REDIS_URL', 'WORKER_KEY']);
    needs({ ROLE: 'api' }, ['DATABASE_URL', 'REDIS_URL', 'WORKER_PUBLIC_KEY']);
  });

  test('a role in production demands no key that it does not use', () => {
    const split = { NODE_ENV: 'production', DATABASE_URL: 'postgres://a/b', REDIS_URL: 'redis://a' };
    needs({ ...split, ROLE: 'worker', WORKER_KEY: JSON.stringify(PRIVATE) }, []);
    needs({ ...split, ROLE: 'verifier' }, ['APP_KEY']);
    needs({ ...split, ROLE: 'verifier', WORKER_KEY: JSON.stringify(PRIVATE) }, ['APP_KEY', 'WORKER_KEY']);
    const api = { ROLE: 'api', WORKER_PUBLIC_KEY: JSON.stringify(PUBLIC) };
    needs({ ...split, ...api }, ['APP_KEY', 'JWT_SECRET', 'ALLOWED_ORIGINS']);
  });

  test('several addresses of Redis are the nodes of one cluster', () => {
    const { data } = readConfig({ REDIS_URL: 'redis://a:1, redis://b:2' });
    assert.equal(data.redisUrl, 'redis://a:1,redis://b:2');
    needs({ REDIS_URL: ',' }, ['REDIS_URL']);
    needs({ REDIS_URL: 'redis://a, http://b' }, ['REDIS_URL']);
  });

  test('an API process must not have the private key', () => {
    const env = {
      ROLE: 'api',
      WORKER_KEY: JSON.stringify(PRIVATE),
      WORKER_PUBLIC_KEY: JSON.stringify(PUBLIC),
    };
    assert.ok(
      problemsOf(env).some((problem) => problem.startsWith('WORKER_KEY must not be given to ROLE=api')),
    );
  });

  test('the two halves of the worker key belong together', () => {
    const [WORKER_KEY, WORKER_PUBLIC_KEY] = [JSON.stringify(PRIVATE), JSON.stringify(PUBLIC)];
    needs({ WORKER_KEY, WORKER_PUBLIC_KEY }, []);
    needs({ WORKER_PUBLIC_KEY }, ['WORKER_KEY']);
    const { d: _, ...other } = OLD;
    needs({ WORKER_KEY, WORKER_PUBLIC_KEY: JSON.stringify(other) }, ['WORKER_PUBLIC_KEY']);
    const rotated = JSON.stringify({ keys: [OLD, PRIVATE] });
    needs({ WORKER_KEY: rotated, WORKER_PUBLIC_KEY: JSON.stringify(other) }, []);
    // Sealed to the old key by the API, though the current one is another.
    needs({ WORKER_KEY: rotated, WORKER_PUBLIC_KEY }, ['WORKER_PUBLIC_KEY']);
  });

  test('a captcha demands its provider, secret and site key', () => {
    needs({ CAPTCHA_ENABLED: 'true' }, ['CAPTCHA_PROVIDER', 'CAPTCHA_SECRET', 'CAPTCHA_SITE_KEY']);
    const given = {
      CAPTCHA_ENABLED: '1',
      CAPTCHA_PROVIDER: 'hcaptcha',
      CAPTCHA_SECRET: 's',
      CAPTCHA_SITE_KEY: 'k',
    };
    assert.deepEqual(readConfig({ ...given, CAPTCHA_BYPASS_USER_AGENTS: 'ZAP, Nikto' }).captcha, {
      provider: 'hcaptcha',
      secret: 's',
      siteKey: 'k',
      verifyUrl: 'https://api.hcaptcha.com/siteverify',
      bypassUserAgents: ['zap', 'nikto'],
    });
    const own = { ...given, CAPTCHA_VERIFY_URL: 'http://localhost:1/verify' };
    assert.equal(readConfig(own).captcha?.verifyUrl, 'http://localhost:1/verify');
  });

  test('any texts at all give a configuration or a ConfigError', () => {
    const likely = fc.constantFrom(
      '',
      '0',
      '1',
      'true',
      '-1',
      ',',
      '{}',
      '[[',
      'null',
      'https://',
      'redis://a',
      '::/0',
    );
    const value = fc.oneof(likely, fc.string({ unit: 'binary', maxLength: 80 }), fc.json(), fc.webUrl());
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: NAMES.length }), (env) => {
        assert.ok(Array.isArray(problemsOf(env)));
      }),
      { numRuns: 1000 },
    );
  });
});

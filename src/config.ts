// The configuration: one table of environment variables, read once, checked as a whole, and passed on.

import { isIP } from 'node:net';
import {
  addressOf,
  aesKey,
  atLeast,
  baseUrl,
  CAPTCHA_TEST_SECRETS,
  type Cidr,
  cidr,
  domainName,
  duration,
  host,
  listOf,
  oneOf,
  origin,
  type Parse,
  plans,
  privateJwks,
  publicJwk,
  sender,
  text,
  Wrong,
  webUrl,
  wholeNumber,
  yesOrNo,
} from './config-values.ts';
import { DEFAULT_PLANS, type Plans } from './domain/entitlement.ts';
import type { PrivateJwk, PublicJwk } from './domain/sealed.ts';

export interface Config {
  readonly role: 'all' | 'api' | 'worker' | 'verifier';
  readonly environment: 'development' | 'test' | 'production';
  readonly production: boolean;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Make the first user and a paper account at the first start. */
  readonly seedUser: boolean;
  readonly http: {
    readonly host: string;
    /** 0: any free one. */
    readonly port: number;
    /** Without a slash at its end. */
    readonly baseUrl: string;
    readonly allowedOrigins: readonly string[];
    readonly trustedProxies: readonly Cidr[];
  };
  readonly data: {
    readonly dir: string;
    /** undefined: SQLite in `dir`. */
    readonly databaseUrl: string | undefined;
  };
  /** What is undefined here is kept in `data.dir`, made there at the first start. */
  readonly keys: {
    /** 32 bytes in base64url. */
    readonly app: string | undefined;
    readonly jwt: string | undefined;
    /** The first one is current; the others open what was sealed to them before. */
    readonly worker: readonly [PrivateJwk, ...PrivateJwk[]] | undefined;
    readonly workerPublic: PublicJwk | undefined;
  };
  readonly auth: {
    readonly accessTokenMs: number;
    readonly refreshTokenMs: number;
    readonly cookieDomain: string | undefined;
  };
  /** null: no bot challenge. */
  readonly captcha: {
    readonly provider: CaptchaProvider;
    readonly secret: string;
    readonly siteKey: string;
    readonly verifyUrl: string;
    /** In lower case. */
    readonly bypassUserAgents: readonly string[];
  } | null;
  readonly edge: {
    /** external: something in front of us already limits and filters. */
    readonly mode: 'builtin' | 'external';
    readonly adminIps: readonly Cidr[];
    readonly chartingIps: readonly Cidr[];
    readonly authLimit: number;
    readonly rateLimit: number;
    readonly windowMs: number;
  };
  readonly mail: {
    /** undefined: each mail is a file in the outbox under `data.dir`. */
    readonly smtpUrl: string | undefined;
    readonly from: string;
    readonly alertIntervalMs: number;
  };
  /** Of one user, over webhook and trading requests. */
  readonly rateLimit: { readonly requests: number; readonly windowMs: number };
  readonly workers: { readonly idleMs: number; readonly poolSize: number; readonly startTimeoutMs: number };
  readonly timings: {
    readonly responseWaitMs: number;
    readonly entryDeadlineMs: number;
    readonly exitDeadlineMs: number;
    readonly reversalPollMs: number;
    readonly fillFirstPollMs: number;
    readonly fillRequeueMs: number;
    readonly fillVisibilityMs: number;
  };
  readonly tries: { readonly reversalPolls: number; readonly fillRetries: number };
  readonly plans: Plans;
}

type CaptchaProvider = 'turnstile' | 'recaptcha' | 'hcaptcha';
const VERIFY_URLS: Record<CaptchaProvider, string> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  recaptcha: 'https://www.google.com/recaptcha/api/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
};

interface Variable {
  /** Begins a group in the help. */
  readonly heading?: string;
  readonly parse: Parse<unknown>;
  readonly means: string;
  /** Read by the same parser where the variable is not set. */
  readonly fallback?: string;
  /** The default in words, where it is not a text of its own. */
  readonly otherwise?: string;
  /** Its value is shown to nobody. */
  readonly secret?: true;
}

/** The longest wait that a timer of the platform knows. */
const TIMER_MS = 2 ** 31 - 1;
const TEN_YEARS_MS = 3650 * 86_400_000;
const count = (least: number) => wholeNumber(least, 1_000_000);
const seconds = duration('seconds', TIMER_MS);

// biome-ignore format: a table, one variable a line
const VARIABLES = {
  HOST: { heading: 'Where it listens', parse: host, fallback: '127.0.0.1', means: 'the address it listens on' },
  PORT: { parse: wholeNumber(0, 65_535), fallback: '8080', means: 'the port it listens on; 0 takes any free one' },
  BASE_URL: { parse: baseUrl, otherwise: 'http://localhost:PORT', means: 'its address from outside, for webhook URLs and mails' },
  ALLOWED_ORIGINS: { parse: listOf(origin), otherwise: 'BASE_URL and http://localhost:5173', means: 'origins whose pages may use the API with credentials, separated by commas' },
  TRUSTED_PROXIES: { parse: listOf(cidr), otherwise: 'none', means: 'CIDR blocks; the client IP is the rightmost address of X-Forwarded-For that is not in them' },

  NODE_ENV: { heading: 'What it runs', parse: oneOf('development', 'test', 'production'), fallback: 'development', means: 'production turns the browser-only check on and demands APP_KEY, JWT_SECRET and ALLOWED_ORIGINS' },
  ROLE: { parse: oneOf('all', 'api', 'worker', 'verifier'), fallback: 'all', means: 'all in one process, or one of api, worker, verifier' },
  LOG_LEVEL: { parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), fallback: 'info', means: 'fatal, error, warn, info, debug, trace or silent' },
  SEED_USER: { parse: yesOrNo, otherwise: 'true outside production', means: 'make the first user and a paper account at the first start' },

  DATA_DIR: { heading: 'Data', parse: text, fallback: './data', means: 'the folder of the embedded database, generated keys and the outbox' },
  DATABASE_URL: { secret: true, parse: addressOf('postgres', 'postgresql'), otherwise: 'none: SQLite in DATA_DIR', means: 'postgres://user:password@host/database' },
  REDIS_URL: { secret: true, parse: addressOf('redis', 'rediss'), otherwise: 'none: in-process', means: 'the in-memory store and the queues; not supported by this version yet' },

  APP_KEY: { heading: 'Keys', secret: true, parse: aesKey, otherwise: 'generated into DATA_DIR outside production', means: 'encrypts webhook secrets at rest: 32 bytes in base64url' },
  JWT_SECRET: { secret: true, parse: atLeast(32), otherwise: 'generated into DATA_DIR outside production', means: 'signs session tokens: 32 characters and up' },
  WORKER_KEY: { secret: true, parse: privateJwks, otherwise: 'generated into DATA_DIR with ROLE=all', means: 'opens sealed broker credentials: a private P-256 JWK for workers only, or after a rotation {"keys": […]}, the current one first' },
  WORKER_PUBLIC_KEY: { parse: publicJwk, otherwise: 'generated into DATA_DIR with ROLE=all', means: 'seals broker credentials: the public P-256 JWK of WORKER_KEY, for API processes' },

  ACCESS_TOKEN_EXPIRE_MINUTES: { heading: 'Sessions', parse: duration('minutes', TEN_YEARS_MS), fallback: '30', means: 'lifetime of an access token' },
  REFRESH_TOKEN_EXPIRE_DAYS: { parse: duration('days', TEN_YEARS_MS), fallback: '30', means: 'lifetime of a refresh token' },
  COOKIE_DOMAIN: { parse: domainName, otherwise: 'none: the current domain', means: 'domain of the access cookie' },

  CAPTCHA_ENABLED: { heading: 'Bot challenge', parse: yesOrNo, fallback: 'false', means: 'ask for a captcha at login and registration; demands the provider, the secret and the site key' },
  CAPTCHA_PROVIDER: { parse: oneOf('turnstile', 'recaptcha', 'hcaptcha'), otherwise: 'none', means: 'turnstile, recaptcha or hcaptcha' },
  CAPTCHA_SECRET: { secret: true, parse: text, otherwise: 'none', means: "the provider's secret for this site" },
  CAPTCHA_SITE_KEY: { parse: text, otherwise: 'none', means: "the provider's public key for this site" },
  CAPTCHA_VERIFY_URL: { parse: webUrl, otherwise: "the provider's own", means: 'where an answer to the challenge is verified' },
  CAPTCHA_BYPASS_USER_AGENTS: { parse: listOf(text), otherwise: 'none', means: 'fragments of User-Agents of security scanners that skip the challenge, separated by commas' },

  EDGE: { heading: 'Edge', parse: oneOf('builtin', 'external'), fallback: 'builtin', means: 'builtin, or external where a firewall in front of the service limits and filters' },
  ADMIN_IPS: { parse: listOf(cidr), fallback: '127.0.0.0/8, ::1', means: 'who may reach /setup, /deployment and /metrics' },
  CHARTING_IPS: { parse: listOf(cidr), fallback: '52.89.214.238, 34.212.75.30, 54.218.53.128, 52.32.178.7', means: 'addresses of the charting platform, free of edge limits on /webhook' },
  EDGE_AUTH_LIMIT: { parse: count(1), fallback: '100', means: 'requests of one IP in a window to login, registration and forgotten password together' },
  WAF_RATE_LIMIT: { parse: count(1), fallback: '2000', means: 'requests of one IP in a window to anything' },
  EDGE_WINDOW_SECONDS: { parse: seconds, fallback: '300', means: 'length of that window' },

  SMTP_URL: { heading: 'Mail', secret: true, parse: addressOf('smtp', 'smtps'), otherwise: 'none: each mail is one .eml file in DATA_DIR/outbox', means: 'smtp://user:password@host:587' },
  MAIL_FROM: { parse: sender, otherwise: "none: fillpath@ and BASE_URL's host", means: 'the sender of mails' },
  ALERT_INTERVAL_MINUTES: { parse: duration('minutes', TIMER_MS), fallback: '30', means: 'at most one alert mail per user in this time' },

  PLANS: { heading: 'Plans and limits', parse: plans, fallback: JSON.stringify(DEFAULT_PLANS), means: 'JSON; daily_orders null is no limit' },
  RATE_LIMIT_REQUESTS: { parse: count(1), fallback: '60', means: 'webhook and trading requests of one user in a window' },
  RATE_LIMIT_WINDOW_SECONDS: { parse: seconds, fallback: '60', means: 'length of that window' },

  WORKER_IDLE_HOURS: { heading: 'Workers', parse: duration('hours', TIMER_MS), fallback: '12', means: 'a worker without requests stops after this time' },
  WORKER_POOL_SIZE: { parse: wholeNumber(0, 1000), fallback: '2', means: 'workers kept ready for users who have none' },
  WORKER_START_TIMEOUT_SECONDS: { parse: seconds, fallback: '60', means: 'a worker that starts later is not waited for: 503' },

  RESPONSE_WAIT_SECONDS: { heading: 'Orders and fills', parse: seconds, fallback: '30', means: "wait for the worker's answer, then 202" },
  ENTRY_DEADLINE_SECONDS: { parse: seconds, fallback: '60', means: 'an entry that is not sent by then expires' },
  EXIT_DEADLINE_SECONDS: { parse: seconds, fallback: '300', means: 'an exit or close that is not sent by then expires' },
  REVERSAL_POLLS: { parse: count(1), fallback: '10', means: "polls of a reversal's close before it is given up" },
  REVERSAL_POLL_MS: { parse: duration('milliseconds', TIMER_MS), fallback: '500', means: 'time between them' },
  FILL_FIRST_POLL_SECONDS: { parse: seconds, fallback: '2.5', means: 'time from placing to the first fill poll' },
  FILL_REQUEUE_SECONDS: { parse: seconds, fallback: '30', means: 'time between fill polls' },
  FILL_VISIBILITY_SECONDS: { parse: seconds, fallback: '180', means: 'a fill check whose process died is free again after this time' },
  FILL_RETRIES: { parse: count(0), fallback: '3', means: 'fill polls after the first before the dead-letter queue' },
} as const satisfies Record<string, Variable>;

type Name = keyof typeof VARIABLES;
type Value<V extends Variable> =
  | Exclude<ReturnType<V['parse']>, Wrong>
  | (V extends { fallback: string } ? never : undefined);
type Values = { readonly [N in Name]: Value<(typeof VARIABLES)[N]> };

const TABLE = Object.entries(VARIABLES) as readonly (readonly [Name, Variable])[];

/** Everything that is wrong with the configuration, ready to be printed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    const title = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`The configuration has ${title}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** An empty text counts as unset, unknown variables as somebody else's. */
export function readConfig(env: Env): Config {
  const problems: string[] = [];
  const values = readValues(env, problems);
  checkTogether(env, values, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(assemble(values));
}

function readValues(env: Env, problems: string[]): Values {
  const read = TABLE.map(([name, { parse, fallback, secret }]) => {
    const value = env[name] ? parse(env[name]) : undefined;
    if (value instanceof Wrong)
      for (const { right, given } of value.faults)
        problems.push(`${name} ${right}${secret || given === null ? '' : `, not ${shown(given)}`}`);
    // A wrong one counts as unset from here on, so that the checks that follow find the other problems.
    const isUnset = value === undefined || value instanceof Wrong;
    return [name, isUnset && fallback !== undefined ? parse(fallback) : isUnset ? undefined : value];
  });
  return Object.fromEntries(read) as Values;
}

/** Short, on one line, and without a password that stands in an address. */
const shown = (given: string): string => JSON.stringify(given.replace(/\/\/[^/]*@/g, '//…@').slice(0, 60));

/** What each value alone cannot tell: the impossible pairs. */
function checkTogether(env: Env, { NODE_ENV, ROLE, ...values }: Values, problems: string[]): void {
  const need = (why: string, ...names: readonly Name[]) => {
    for (const name of names)
      if (!env[name]) problems.push(`${name} is needed with ${why}: ${VARIABLES[name].means}`);
  };
  if (NODE_ENV === 'production') need('NODE_ENV=production', 'APP_KEY', 'JWT_SECRET', 'ALLOWED_ORIGINS');
  if (values.ALLOWED_ORIGINS?.length === 0) problems.push('ALLOWED_ORIGINS must name at least one origin');
  if (values.CAPTCHA_ENABLED)
    need('CAPTCHA_ENABLED', 'CAPTCHA_PROVIDER', 'CAPTCHA_SECRET', 'CAPTCHA_SITE_KEY');
  if (NODE_ENV === 'production' && CAPTCHA_TEST_SECRETS.has(values.CAPTCHA_SECRET ?? ''))
    problems.push("CAPTCHA_SECRET must be your own in production, not a provider's published test secret");

  if (env.REDIS_URL)
    problems.push('REDIS_URL: Redis is not supported by this version yet; leave REDIS_URL unset');
  if (ROLE !== 'all') {
    need(`ROLE=${ROLE}`, 'DATABASE_URL');
    if (!env.REDIS_URL)
      problems.push(
        `REDIS_URL is needed with ROLE=${ROLE}, and Redis is not supported by this version yet; leave ROLE unset`,
      );
  }
  if (ROLE === 'worker') need('ROLE=worker', 'WORKER_KEY');
  if (ROLE === 'api') {
    need('ROLE=api', 'WORKER_PUBLIC_KEY');
    // Whoever breaks into an API process must not find what opens the credentials.
    if (env.WORKER_KEY)
      problems.push(
        'WORKER_KEY must not be given to ROLE=api; give it to workers, and WORKER_PUBLIC_KEY here',
      );
  }
  if (ROLE === 'all' && env.WORKER_PUBLIC_KEY && !env.WORKER_KEY)
    problems.push(
      'WORKER_KEY is needed beside WORKER_PUBLIC_KEY: nothing could open what it seals; unset both or none',
    );
  const { WORKER_KEY: [current] = [], WORKER_PUBLIC_KEY: publicKey } = values;
  if (current && publicKey && (current.x !== publicKey.x || current.y !== publicKey.y))
    problems.push('WORKER_PUBLIC_KEY must be the public half of the current WORKER_KEY: the same x and y');
}

function assemble(values: Values): Config {
  const production = values.NODE_ENV === 'production';
  const address = values.BASE_URL ?? `http://localhost:${values.PORT}`;
  const { origin: ownOrigin, hostname } = new URL(address);
  const mailHost = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : 'localhost';
  const {
    CAPTCHA_PROVIDER: provider,
    CAPTCHA_SECRET: secret,
    CAPTCHA_SITE_KEY: siteKey,
    WORKER_KEY,
  } = values;
  return {
    role: values.ROLE,
    environment: values.NODE_ENV,
    production,
    logLevel: values.LOG_LEVEL,
    seedUser: values.SEED_USER ?? !production,
    http: {
      host: values.HOST,
      port: values.PORT,
      baseUrl: address,
      allowedOrigins: values.ALLOWED_ORIGINS ?? [ownOrigin, 'http://localhost:5173'],
      trustedProxies: values.TRUSTED_PROXIES ?? [],
    },
    data: { dir: values.DATA_DIR, databaseUrl: values.DATABASE_URL },
    keys: {
      app: values.APP_KEY,
      jwt: values.JWT_SECRET,
      worker: WORKER_KEY,
      workerPublic: values.WORKER_PUBLIC_KEY ?? (WORKER_KEY && publicHalf(WORKER_KEY[0])),
    },
    auth: {
      accessTokenMs: values.ACCESS_TOKEN_EXPIRE_MINUTES,
      refreshTokenMs: values.REFRESH_TOKEN_EXPIRE_DAYS,
      cookieDomain: values.COOKIE_DOMAIN,
    },
    captcha:
      values.CAPTCHA_ENABLED && provider && secret && siteKey
        ? {
            provider,
            secret,
            siteKey,
            verifyUrl: values.CAPTCHA_VERIFY_URL ?? VERIFY_URLS[provider],
            bypassUserAgents: (values.CAPTCHA_BYPASS_USER_AGENTS ?? []).map((part) => part.toLowerCase()),
          }
        : null,
    edge: {
      mode: values.EDGE,
      adminIps: values.ADMIN_IPS,
      chartingIps: values.CHARTING_IPS,
      authLimit: values.EDGE_AUTH_LIMIT,
      rateLimit: values.WAF_RATE_LIMIT,
      windowMs: values.EDGE_WINDOW_SECONDS,
    },
    mail: {
      smtpUrl: values.SMTP_URL,
      from: values.MAIL_FROM ?? `fillpath@${mailHost}`,
      alertIntervalMs: values.ALERT_INTERVAL_MINUTES,
    },
    rateLimit: { requests: values.RATE_LIMIT_REQUESTS, windowMs: values.RATE_LIMIT_WINDOW_SECONDS },
    workers: {
      idleMs: values.WORKER_IDLE_HOURS,
      poolSize: values.WORKER_POOL_SIZE,
      startTimeoutMs: values.WORKER_START_TIMEOUT_SECONDS,
    },
    timings: {
      responseWaitMs: values.RESPONSE_WAIT_SECONDS,
      entryDeadlineMs: values.ENTRY_DEADLINE_SECONDS,
      exitDeadlineMs: values.EXIT_DEADLINE_SECONDS,
      reversalPollMs: values.REVERSAL_POLL_MS,
      fillFirstPollMs: values.FILL_FIRST_POLL_SECONDS,
      fillRequeueMs: values.FILL_REQUEUE_SECONDS,
      fillVisibilityMs: values.FILL_VISIBILITY_SECONDS,
    },
    tries: { reversalPolls: values.REVERSAL_POLLS, fillRetries: values.FILL_RETRIES },
    plans: values.PLANS,
  };
}

const publicHalf = ({ d: _, ...point }: PrivateJwk): PublicJwk => point;

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

/** The help: every variable with its default and its meaning. */
export function describeConfig(): string {
  const lines = TABLE.flatMap(([name, { heading, means, fallback, otherwise, secret }]) => [
    ...(heading ? ['', heading] : []),
    `  ${name.padEnd(29)} ${means}${secret ? ' (secret)' : ''}`,
    `  ${''.padEnd(29)} default: ${fallback ?? otherwise ?? 'none'}`,
  ]);
  return `Fillpath is configured by environment variables, all of them optional.\n${lines.join('\n')}\n`;
}

/** The content of .env.example, which a test compares with this. */
export function envExample(): string {
  const lines = TABLE.flatMap(([name, { heading, means, fallback, otherwise }]) => [
    ...(heading ? ['', `# --- ${heading} ---`] : []),
    '',
    `# ${means}${fallback === undefined ? ` (default: ${otherwise})` : ''}`,
    `# ${name}=${fallback ?? ''}`,
  ]);
  return `# Copy to .env and uncomment what differs. Every variable is optional; the values shown are the defaults.\n${lines.join('\n')}\n`;
}

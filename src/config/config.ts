// The configuration: the environment, read once by its table, checked as a whole, and passed on.

import { isIP } from 'node:net';
import type { BrokerUrls } from '../domain/brokers.ts';
import type { PrivateJwk, PublicJwk } from '../domain/identity/sealed.ts';
import type { Plans } from '../domain/orders/entitlement.ts';
import { TABLE, VARIABLES, type Values, type VariableName } from './table.ts';
import { CAPTCHA_TEST_SECRETS, type Cidr, Wrong } from './values.ts';

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
    /** Under which it is administered, besides that of `baseUrl` and loopback names. */
    readonly allowedHosts: readonly string[];
    readonly trustedProxies: readonly Cidr[];
    readonly checksCertificates: boolean;
    readonly connections: {
      readonly inAll: number;
      readonly perAddress: number;
      readonly headersMs: number;
      readonly sendMs: number;
    };
  };
  readonly data: {
    readonly dir: string;
    /** undefined: SQLite in `dir`. */
    readonly databaseUrl: string | undefined;
    /** undefined: in this process. Several, separated by commas, are nodes of one cluster. */
    readonly redisUrl: string | undefined;
  };
  /** null: for ever. */
  readonly retention: {
    readonly auditMs: number | null;
    readonly orderMs: number | null;
    /** Of what became no order. */
    readonly signalMs: number;
  };
  /** What is undefined here is kept in `data.dir`, made there at the first start. */
  readonly keys: {
    /** 32 bytes in base64url. */
    readonly app: string | undefined;
    /** What it was, while it is being replaced. */
    readonly appPrevious: string | undefined;
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
    readonly metrics: {
      /** null: the API's own port is the only one. */
      readonly port: number | null;
      readonly ips: readonly Cidr[];
    };
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
    /** Who registers has to show that the address is theirs. */
    readonly verifyEmail: boolean;
  };
  readonly notify: {
    readonly privateNetworks: readonly Cidr[];
    readonly telegramUrl: string;
  };
  /** Of one user, over webhook and trading requests. */
  readonly rateLimit: { readonly requests: number; readonly windowMs: number };
  readonly workers: {
    readonly idleMs: number;
    readonly poolSize: number;
    readonly startTimeoutMs: number;
    readonly leaseMs: number;
    /** undefined: that of the machine. */
    readonly hostName: string | undefined;
    /** What a host that an API process starts is to read its settings from; undefined: it starts none. */
    readonly envFile: string | undefined;
  };
  readonly brokers: {
    readonly timeoutMs: number;
    /** Of one user, on behalf of what is only read. */
    readonly readsPerMinute: number;
    readonly urls: BrokerUrls;
  };
  readonly timings: {
    readonly responseWaitMs: number;
    readonly entryDeadlineMs: number;
    readonly exitDeadlineMs: number;
    readonly positionLagMs: number;
    readonly protectMs: number;
    readonly protectionSweepMs: number;
    readonly protectionFollowMs: number;
    readonly reversalPollMs: number;
    readonly fillFirstPollMs: number;
    readonly fillRequeueMs: number;
    readonly fillVisibilityMs: number;
  };
  readonly tries: { readonly reversalPolls: number; readonly fillRetries: number };
  readonly plans: Plans;
  /** null: nothing is traced. */
  readonly tracing: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly serviceName: string;
    readonly ratio: number;
  } | null;
}

type CaptchaProvider = 'turnstile' | 'recaptcha' | 'hcaptcha';
const VERIFY_URLS: Record<CaptchaProvider, string> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  recaptcha: 'https://www.google.com/recaptcha/api/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
};

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
  const need = (why: string, ...names: readonly VariableName[]) => {
    for (const name of names)
      if (!env[name]) problems.push(`${name} is needed with ${why}: ${VARIABLES[name].means}`);
  };
  // A worker opens credentials and nothing else; a verifier seals the audit log besides.
  const needed = { all: API_KEYS, api: API_KEYS, worker: [], verifier: ['APP_KEY'] } as const;
  if (NODE_ENV === 'production') need('NODE_ENV=production', ...needed[ROLE]);
  if (values.EDGE_CHECKS_CERTIFICATES && (values.TRUSTED_PROXIES ?? []).length === 0)
    problems.push(
      'TRUSTED_PROXIES is needed with EDGE_CHECKS_CERTIFICATES: nobody else is believed about certificates',
    );
  if (values.ALLOWED_ORIGINS?.length === 0) problems.push('ALLOWED_ORIGINS must name at least one origin');
  if (values.CAPTCHA_ENABLED)
    need('CAPTCHA_ENABLED', 'CAPTCHA_PROVIDER', 'CAPTCHA_SECRET', 'CAPTCHA_SITE_KEY');
  if (NODE_ENV === 'production' && CAPTCHA_TEST_SECRETS.has(values.CAPTCHA_SECRET ?? ''))
    problems.push("CAPTCHA_SECRET must be your own in production, not a provider's published test secret");

  if (ROLE !== 'all') need(`ROLE=${ROLE}`, 'DATABASE_URL', 'REDIS_URL');
  if (values.REDIS_URL?.length === 0) problems.push('REDIS_URL must name at least one server');
  if (ROLE === 'worker') need('ROLE=worker', 'WORKER_KEY');
  if (ROLE === 'api') {
    need('ROLE=api', 'WORKER_PUBLIC_KEY');
    // Whoever breaks into an API process must not find what opens the credentials.
    if (env.WORKER_KEY)
      problems.push(
        'WORKER_KEY must not be given to ROLE=api; give it to workers, and WORKER_PUBLIC_KEY here',
      );
  }
  if (ROLE === 'verifier' && env.WORKER_KEY)
    problems.push('WORKER_KEY must not be given to ROLE=verifier; only workers need it');
  if (ROLE === 'all' && env.WORKER_PUBLIC_KEY && !env.WORKER_KEY)
    problems.push(
      'WORKER_KEY is needed beside WORKER_PUBLIC_KEY: nothing could open what it seals; set both or neither',
    );
  const { WORKER_KEY: [current] = [], WORKER_PUBLIC_KEY: publicKey } = values;
  if (current && publicKey && (current.x !== publicKey.x || current.y !== publicKey.y))
    problems.push('WORKER_PUBLIC_KEY must be the public half of the current WORKER_KEY: the same x and y');
}

const API_KEYS = ['APP_KEY', 'JWT_SECRET', 'ALLOWED_ORIGINS'] as const;

function assemble(values: Values): Config {
  const production = values.NODE_ENV === 'production';
  // A process without an API only answers probes: it must not take the port from one that has.
  const port = values.PORT ?? (values.ROLE === 'all' || values.ROLE === 'api' ? 8080 : 0);
  const address = values.BASE_URL ?? `http://localhost:${port}`;
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
      port,
      baseUrl: address,
      allowedOrigins: values.ALLOWED_ORIGINS ?? [ownOrigin, 'http://localhost:5173'],
      allowedHosts: values.ALLOWED_HOSTS ?? [],
      trustedProxies: values.TRUSTED_PROXIES ?? [],
      checksCertificates: values.EDGE_CHECKS_CERTIFICATES,
      connections: {
        inAll: values.MAX_CONNECTIONS,
        perAddress: values.MAX_CONNECTIONS_PER_IP,
        headersMs: values.HEADERS_TIMEOUT_SECONDS,
        sendMs: values.SEND_TIMEOUT_SECONDS,
      },
    },
    data: {
      dir: values.DATA_DIR,
      databaseUrl: values.DATABASE_URL,
      redisUrl: values.REDIS_URL?.join(','),
    },
    retention: {
      auditMs: values.AUDIT_DAYS === undefined ? null : values.AUDIT_DAYS * DAY_MS,
      orderMs: values.ORDER_DAYS === undefined ? null : values.ORDER_DAYS * DAY_MS,
      signalMs: values.SIGNAL_DAYS * DAY_MS,
    },
    keys: {
      app: values.APP_KEY,
      appPrevious: values.APP_KEY_PREVIOUS,
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
      metrics: { port: values.METRICS_PORT ?? null, ips: values.METRICS_IPS ?? values.ADMIN_IPS },
      chartingIps: values.CHARTING_IPS,
      authLimit: values.EDGE_AUTH_LIMIT,
      rateLimit: values.WAF_RATE_LIMIT,
      windowMs: values.EDGE_WINDOW_SECONDS,
    },
    mail: {
      smtpUrl: values.SMTP_URL,
      from: values.MAIL_FROM ?? `fillpath@${mailHost}`,
      alertIntervalMs: values.ALERT_INTERVAL_MINUTES,
      verifyEmail: values.VERIFY_EMAIL ?? values.SMTP_URL !== undefined,
    },
    notify: {
      privateNetworks: values.NOTIFY_PRIVATE_NETWORKS ?? [],
      telegramUrl: values.TELEGRAM_URL,
    },
    rateLimit: { requests: values.RATE_LIMIT_REQUESTS, windowMs: values.RATE_LIMIT_WINDOW_SECONDS },
    workers: {
      idleMs: values.WORKER_IDLE_HOURS,
      poolSize: values.WORKER_POOL_SIZE,
      startTimeoutMs: values.WORKER_START_TIMEOUT_SECONDS,
      leaseMs: values.WORKER_LEASE_SECONDS,
      hostName: values.HOST_NAME,
      envFile: values.WORKER_ENV_FILE,
    },
    brokers: {
      timeoutMs: values.BROKER_TIMEOUT_SECONDS,
      readsPerMinute: values.BROKER_READS_PER_MINUTE,
      urls: values.BROKER_URLS,
    },
    timings: {
      responseWaitMs: values.RESPONSE_WAIT_SECONDS,
      entryDeadlineMs: values.ENTRY_DEADLINE_SECONDS,
      exitDeadlineMs: values.EXIT_DEADLINE_SECONDS,
      positionLagMs: values.POSITION_LAG_SECONDS,
      protectMs: values.PROTECT_SECONDS,
      protectionSweepMs: values.PROTECTION_SWEEP_SECONDS,
      protectionFollowMs: values.PROTECTION_FOLLOW_SECONDS,
      reversalPollMs: values.REVERSAL_POLL_MS,
      fillFirstPollMs: values.FILL_FIRST_POLL_SECONDS,
      fillRequeueMs: values.FILL_REQUEUE_SECONDS,
      fillVisibilityMs: values.FILL_VISIBILITY_SECONDS,
    },
    tries: { reversalPolls: values.REVERSAL_POLLS, fillRetries: values.FILL_RETRIES },
    plans: values.PLANS,
    tracing: tracingOf(values),
  };
}

/** The address of the traces alone counts as it stands; to that of a collector its path is added. */
function tracingOf(values: Values): Config['tracing'] {
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`);
  if (!url) return null;
  return {
    url,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

const DAY_MS = 86_400_000;

const publicHalf = ({ d: _, ...point }: PrivateJwk): PublicJwk => point;

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

// The table of environment variables: what each is, its default, and what it means. The help and .env.example are
// printed from it.

import { DEFAULT_PLANS } from '../domain/orders/entitlement.ts';
import {
  addressOf,
  aesKey,
  atLeast,
  baseUrl,
  brokerUrls,
  cidr,
  domainName,
  duration,
  headers,
  host,
  listOf,
  oneOf,
  origin,
  type Parse,
  plans,
  privateJwks,
  publicJwk,
  ratio,
  sender,
  text,
  type Wrong,
  webUrl,
  wholeNumber,
  yesOrNo,
} from './values.ts';

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
export const VARIABLES = {
  HOST: { heading: 'Where it listens', parse: host, fallback: '127.0.0.1', means: 'the address it listens on' },
  PORT: { parse: wholeNumber(0, 65_535), otherwise: '8080; with ROLE=worker and verifier any free one', means: 'the port it listens on; 0 takes any free one' },
  BASE_URL: { parse: baseUrl, otherwise: 'http://localhost:PORT', means: 'its address from outside, for webhook URLs and mails' },
  ALLOWED_ORIGINS: { parse: listOf(origin), otherwise: 'BASE_URL and http://localhost:5173', means: 'origins whose pages may use the API with credentials, separated by commas' },
  ALLOWED_HOSTS: { parse: listOf(host), otherwise: 'none', means: "names besides BASE_URL's host and loopback names under which /setup, /deployment and /metrics answer, without a port, separated by commas" },
  TRUSTED_PROXIES: { parse: listOf(cidr), otherwise: 'none', means: 'CIDR blocks of your proxies; the client IP is the rightmost address of X-Forwarded-For that is not in them. Where a proxy names no valid client (in production also where it names none at all), the client counts as no admin and is on no list' },
  EDGE_CHECKS_CERTIFICATES: { parse: yesOrNo, fallback: 'false', means: "true: the proxy in TRUSTED_PROXIES checks the charting platform's client certificate, says so in X-Charting-Client-Cert, and strips what clients say there, as deploy/edge does; accounts may then require it" },
  MAX_CONNECTIONS: { parse: count(1), fallback: '900', means: 'connections at once, not counting those from TRUSTED_PROXIES; each is a file handle (ulimit -n)' },
  MAX_CONNECTIONS_PER_IP: { parse: count(1), fallback: '100', means: 'the same, from one address' },
  HEADERS_TIMEOUT_SECONDS: { parse: seconds, fallback: '10', means: 'a request whose headers have not arrived by then is cut off' },
  SEND_TIMEOUT_SECONDS: { parse: seconds, fallback: '20', means: 'an answer of which the client takes nothing for this time is dropped' },

  NODE_ENV: { heading: 'What it runs', parse: oneOf('development', 'test', 'production'), fallback: 'development', means: 'production turns the browser-only check on and requires APP_KEY, JWT_SECRET and ALLOWED_ORIGINS' },
  ROLE: { parse: oneOf('all', 'api', 'worker', 'verifier'), fallback: 'all', means: 'all in one process, or one of api, worker, verifier' },
  LOG_LEVEL: { parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), fallback: 'info', means: 'fatal, error, warn, info, debug, trace or silent' },
  SEED_USER: { parse: yesOrNo, otherwise: 'true outside production', means: 'make the first user and a paper account at the first start' },

  DATA_DIR: { heading: 'Data', parse: text, fallback: './data', means: 'the folder of the embedded database, generated keys and the outbox' },
  DATABASE_URL: { secret: true, parse: addressOf('postgres', 'postgresql'), otherwise: 'none: SQLite in DATA_DIR', means: 'postgres://user:password@host/database' },
  REDIS_URL: { secret: true, parse: listOf(addressOf('redis', 'rediss')), otherwise: 'none: in-process', means: 'the in-memory store and the queues: redis://user:password@host/0; several, separated by commas, for a cluster' },

  AUDIT_DAYS: { parse: wholeNumber(1, 36_500), otherwise: 'none: for ever', means: 'audit entries older than this are pruned; what is left of the log still verifies' },
  SIGNAL_DAYS: { parse: wholeNumber(1, 36_500), fallback: '90', means: 'arrivals at webhooks that became no order, and their messages, are kept for this long' },
  ORDER_DAYS: { parse: wholeNumber(1, 36_500), otherwise: 'none: for ever', means: 'orders older than this that have ended for good are pruned' },

  APP_KEY: { heading: 'Keys', secret: true, parse: aesKey, otherwise: 'generated into DATA_DIR outside production', means: 'encrypts webhook secrets at rest: 32 bytes in base64url' },
  APP_KEY_PREVIOUS: { secret: true, parse: aesKey, otherwise: 'none', means: 'what APP_KEY was, for `fillpath keys rotate APP_KEY` and nothing else' },
  JWT_SECRET: { secret: true, parse: atLeast(32), otherwise: 'generated into DATA_DIR outside production', means: 'signs session tokens: 32 characters and up' },
  WORKER_KEY: { secret: true, parse: privateJwks, otherwise: 'generated into DATA_DIR with ROLE=all', means: 'opens sealed broker credentials: a private P-256 JWK for workers only, or after a rotation {"keys": […]}, the current one first' },
  WORKER_PUBLIC_KEY: { parse: publicJwk, otherwise: 'generated into DATA_DIR with ROLE=all', means: 'seals broker credentials: the public P-256 JWK of WORKER_KEY, for API processes' },

  ACCESS_TOKEN_EXPIRE_MINUTES: { heading: 'Sessions', parse: duration('minutes', TEN_YEARS_MS), fallback: '30', means: 'lifetime of an access token' },
  REFRESH_TOKEN_EXPIRE_DAYS: { parse: duration('days', TEN_YEARS_MS), fallback: '30', means: 'lifetime of a refresh token' },
  COOKIE_DOMAIN: { parse: domainName, otherwise: 'none: the current domain', means: 'domain of the access cookie' },

  CAPTCHA_ENABLED: { heading: 'Bot challenge', parse: yesOrNo, fallback: 'false', means: 'ask for a captcha at login and registration; requires the provider, the secret and the site key' },
  CAPTCHA_PROVIDER: { parse: oneOf('turnstile', 'recaptcha', 'hcaptcha'), otherwise: 'none', means: 'turnstile, recaptcha or hcaptcha' },
  CAPTCHA_SECRET: { secret: true, parse: text, otherwise: 'none', means: "the provider's secret for this site" },
  CAPTCHA_SITE_KEY: { parse: text, otherwise: 'none', means: "the provider's public key for this site" },
  CAPTCHA_VERIFY_URL: { parse: webUrl, otherwise: "the provider's own", means: 'where an answer to the challenge is verified' },
  CAPTCHA_BYPASS_USER_AGENTS: { parse: listOf(text), otherwise: 'none', means: 'fragments of User-Agents of security scanners that skip the challenge, separated by commas' },

  EDGE: { heading: 'Edge', parse: oneOf('builtin', 'external'), fallback: 'builtin', means: 'builtin, or external where a firewall in front of the service limits and filters' },
  ADMIN_IPS: { parse: listOf(cidr), fallback: '127.0.0.0/8, ::1', means: 'who may reach /setup, /deployment and /metrics' },
  METRICS_PORT: { parse: wholeNumber(0, 65_535), otherwise: 'none', means: 'with ROLE=all and api: another port, for /metrics and /health alone, which your monitoring reaches and the proxy in front does not' },
  METRICS_IPS: { parse: listOf(cidr), otherwise: 'ADMIN_IPS', means: 'who may read /metrics there, and at processes without an API; by the address of the connection' },
  CHARTING_IPS: { parse: listOf(cidr), fallback: '52.89.214.238, 34.212.75.30, 54.218.53.128, 52.32.178.7', means: 'addresses of the charting platform, exempt from edge limits on /webhook' },
  EDGE_AUTH_LIMIT: { parse: count(1), fallback: '100', means: 'requests from one IP in a window to login, registration and forgotten password together, and as many for tokens and codes' },
  WAF_RATE_LIMIT: { parse: count(1), fallback: '2000', means: 'requests from one IP in a window to any path' },
  EDGE_WINDOW_SECONDS: { parse: seconds, fallback: '300', means: 'length of that window' },

  SMTP_URL: { heading: 'Mail', secret: true, parse: addressOf('smtp', 'smtps'), otherwise: 'none: each mail is one .eml file in DATA_DIR/outbox', means: 'smtp://user:password@host:587' },
  MAIL_FROM: { parse: sender, otherwise: "none: fillpath@ and BASE_URL's host", means: 'the sender of mails' },
  VERIFY_EMAIL: { parse: yesOrNo, otherwise: 'true where SMTP_URL is set', means: 'who registers has to follow a link that is mailed to their address before they have a second factor, API keys and notifications' },
  ALERT_INTERVAL_MINUTES: { parse: duration('minutes', TIMER_MS), fallback: '30', means: 'at most one alert mail per user in this time' },
  NOTIFY_PRIVATE_NETWORKS: { parse: listOf(cidr), otherwise: 'none', means: "CIDR blocks of your own network that users' notifications may be sent to, also by http and to any port; all other private addresses are refused" },
  TELEGRAM_URL: { parse: baseUrl, fallback: 'https://api.telegram.org', means: 'the Bot API server for notifications by Telegram' },

  PLANS: { heading: 'Plans and limits', parse: plans, fallback: JSON.stringify(DEFAULT_PLANS), means: 'JSON; daily_orders null is no limit; accounts, api_keys and allowed_ips are how many its users may make (where it does not say: 200 each, and 20, 20 and 50 where it only simulates)' },
  RATE_LIMIT_REQUESTS: { parse: count(1), fallback: '60', means: 'webhook and trading requests of one user in a window' },
  RATE_LIMIT_WINDOW_SECONDS: { parse: seconds, fallback: '60', means: 'length of that window' },

  WORKER_IDLE_HOURS: { heading: 'Workers', parse: duration('hours', TIMER_MS), fallback: '12', means: 'a worker without requests stops after this time' },
  WORKER_POOL_SIZE: { parse: wholeNumber(0, 1000), fallback: '2', means: 'workers kept ready for users who have none' },
  WORKER_START_TIMEOUT_SECONDS: { parse: seconds, fallback: '60', means: 'a worker that starts later is not waited for: 503' },
  WORKER_LEASE_SECONDS: { parse: seconds, fallback: '1.5', means: 'a worker host that is silent for this time loses its users to the others' },
  HOST_NAME: { parse: text, otherwise: "the machine's own", means: 'what a worker host is called, with its process id, in the log and in /deployment' },
  WORKER_ENV_FILE: { parse: text, otherwise: 'none: an API process starts no worker host', means: 'with ROLE=api: a file with the settings, WORKER_KEY among them, of a worker host that is started here when no other takes a user' },
  BROKER_TIMEOUT_SECONDS: { parse: seconds, fallback: '10', means: 'a broker that has not answered by then is not waited for' },
  BROKER_READS_PER_MINUTE: { parse: count(1), fallback: '240', means: 'calls that reach a broker and do not trade (balance, positions, symbols, plans, looks, verification) of one user in a minute, over all processes: 429 beyond that. Orders, the kill switch and looks at what may have to be closed are not counted' },
  BROKER_URLS: { parse: brokerUrls, fallback: '{}', means: "JSON, broker → base address in place of the broker's own: a gateway in your network, or a stub; the broker's websockets are not used then" },

  OTEL_EXPORTER_OTLP_ENDPOINT: { heading: 'Traces', parse: baseUrl, otherwise: 'none: nothing is traced', means: 'an OpenTelemetry collector that speaks OTLP over HTTP (JSON), such as http://localhost:4318; /v1/traces is appended' },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: { parse: webUrl, otherwise: 'OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces', means: 'the same, with its path' },
  OTEL_EXPORTER_OTLP_HEADERS: { secret: true, parse: headers, otherwise: 'none', means: 'headers that the collector asks for: name=value, separated by commas' },
  OTEL_SERVICE_NAME: { parse: text, fallback: 'fillpath', means: 'what the service is called there' },
  OTEL_TRACES_SAMPLER_ARG: { parse: ratio, fallback: '1', means: 'what fraction of all signals is traced, from 0 to 1' },

  RESPONSE_WAIT_SECONDS: { heading: 'Orders and fills', parse: seconds, fallback: '30', means: "wait for the worker's answer, then 202" },
  ENTRY_DEADLINE_SECONDS: { parse: seconds, fallback: '60', means: 'an entry that is not sent by then expires' },
  EXIT_DEADLINE_SECONDS: { parse: seconds, fallback: '300', means: 'an exit or close that is not sent by then expires' },
  POSITION_LAG_SECONDS: { parse: seconds, fallback: '30', means: "so long a broker's positions may lag behind our own fills before they are believed" },
  PROTECT_SECONDS: { parse: seconds, fallback: '10', means: 'so long a stop that the broker refuses is tried before the account’s setting `unprotected` decides; twice in this time an entry that asks for a stop is looked at where its broker’s stream tells nothing' },
  PROTECTION_SWEEP_SECONDS: { parse: seconds, fallback: '30', means: 'so often each protected position is compared with what stands at the broker' },
  PROTECTION_FOLLOW_SECONDS: { parse: seconds, fallback: '2', means: 'so often the price is asked for while a stop follows it' },
  REVERSAL_POLLS: { parse: count(1), fallback: '10', means: "polls of a reversal's close before the reversal is given up" },
  REVERSAL_POLL_MS: { parse: duration('milliseconds', TIMER_MS), fallback: '500', means: 'time between them' },
  FILL_FIRST_POLL_SECONDS: { parse: seconds, fallback: '2.5', means: 'time from placing to the first fill poll' },
  FILL_REQUEUE_SECONDS: { parse: seconds, fallback: '30', means: 'time between fill polls' },
  FILL_VISIBILITY_SECONDS: { parse: seconds, fallback: '180', means: 'a fill check whose process died is free again after this time' },
  FILL_RETRIES: { parse: count(0), fallback: '3', means: 'fill polls after the first before the dead-letter queue' },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;
type Value<V extends Variable> =
  | Exclude<ReturnType<V['parse']>, Wrong>
  | (V extends { fallback: string } ? never : undefined);
export type Values = { readonly [N in VariableName]: Value<(typeof VARIABLES)[N]> };

export const TABLE = Object.entries(VARIABLES) as readonly (readonly [VariableName, Variable])[];

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

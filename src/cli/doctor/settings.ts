// Settings that are well-formed and still not what anybody wants. Pure: nothing but the configuration is looked at.

import { isIP } from 'node:net';
import type { Config } from '../../config/config.ts';
import type { Cidr } from '../../config/values.ts';
import { type Check, type Finding, found } from './finding.ts';

export const settingsChecks: readonly Check[] = [
  { area: 'configuration', about: 'settings', look: async (config) => addressFindings(config) },
  { area: 'proxies', about: 'proxies and admin addresses', look: async (config) => proxyFindings(config) },
];

const isLocalName = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host);

function addressFindings({ production, role, http, auth, mail }: Config): Finding[] {
  if (role === 'worker' || role === 'verifier') return [];
  const wrong = found('configuration');
  const { origin, hostname, protocol } = new URL(http.baseUrl);
  const findings: Finding[] = [];
  if (production && isLocalName(hostname))
    findings.push(
      wrong(
        `BASE_URL is ${http.baseUrl} in production: webhook URLs and links in mails lead nowhere.`,
        'Set BASE_URL to the address at which the service is reached from outside, such as https://trade.example.com.',
      ),
    );
  else if (production && protocol !== 'https:')
    findings.push(
      wrong(
        `BASE_URL is ${http.baseUrl}, without TLS, in production: cookies are not sent over it, and secrets can be read on the way.`,
        'Put the edge of deploy/edge, or another proxy with a certificate, in front, and set BASE_URL to its https:// address.',
      ),
    );
  if (!production && protocol === 'https:' && !isLocalName(hostname))
    findings.push(
      wrong(
        `NODE_ENV is not production, and BASE_URL (${http.baseUrl}) is a public address.`,
        'Set NODE_ENV=production, with APP_KEY, JWT_SECRET and ALLOWED_ORIGINS.',
      ),
    );
  if (!http.allowedOrigins.includes(origin))
    findings.push(
      wrong(
        `ALLOWED_ORIGINS does not contain the origin of BASE_URL, ${origin}: the pages cannot use the API.`,
        `Set ALLOWED_ORIGINS=${[origin, ...http.allowedOrigins].join(',')}, or correct BASE_URL.`,
      ),
    );
  const domain = auth.cookieDomain?.replace(/^\./, '');
  if (domain && hostname !== domain && !hostname.endsWith(`.${domain}`))
    findings.push(
      wrong(
        `COOKIE_DOMAIN is ${auth.cookieDomain}, and the pages are at ${hostname}: browsers drop the cookie, and nobody stays logged in.`,
        `Unset COOKIE_DOMAIN, or set it to a domain that ${hostname} belongs to.`,
      ),
    );
  if (production && mail.smtpUrl === undefined)
    findings.push({
      area: 'mail',
      problem:
        'SMTP_URL is not set in production: alerts and links for a new password are files in DATA_DIR/outbox, which nobody reads.',
      remedy: 'Set SMTP_URL=smtp://user:password@host:587 and MAIL_FROM.',
    });
  return findings;
}

/** As many addresses as a network of a large company has. */
const WIDEST = { ipv4: 8, ipv6: 16 } as const;

function proxyFindings({ production, role, http, edge }: Config): Finding[] {
  const wrong = found('proxies');
  const wide = (blocks: readonly Cidr[]) =>
    blocks
      .filter(({ prefix, family }) => prefix < WIDEST[family])
      .map(({ address, prefix }) => `${address}/${prefix}`);
  const findings: Finding[] = [];
  const [proxies, admins] = [wide(http.trustedProxies), wide(edge.adminIps)];
  if (proxies.length > 0)
    findings.push(
      wrong(
        `TRUSTED_PROXIES contains ${proxies.join(', ')}: whoever connects may name any client address, an admin's too.`,
        'List the addresses of your own proxies and nothing else, such as TRUSTED_PROXIES=127.0.0.1.',
      ),
    );
  if (admins.length > 0)
    findings.push(
      wrong(
        `ADMIN_IPS contains ${admins.join(', ')}: /setup, /deployment and /metrics are open to the world, and whoever comes first becomes the admin.`,
        'List the addresses that you administer from, such as ADMIN_IPS=127.0.0.0/8,::1.',
      ),
    );
  const hasApi = role === 'all' || role === 'api';
  if (!hasApi || http.trustedProxies.length > 0) return findings;
  const isBehind =
    edge.mode === 'external' ||
    // Somebody else has the certificate, and the way to us.
    (production && new URL(http.baseUrl).protocol === 'https:' && isLoopback(http.host));
  if (isBehind)
    findings.push(
      wrong(
        'A proxy stands in front, and TRUSTED_PROXIES is not set: every client looks like that proxy, so that limits count all as one and lists of allowed addresses let nobody in.',
        'Set TRUSTED_PROXIES to the address from which the proxy connects, such as 127.0.0.1, and let it write X-Forwarded-For.',
      ),
    );
  return findings;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

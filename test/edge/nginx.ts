// The real edge on loopback: Debian's nginx with ModSecurity and the core rule set, and the files of deploy/edge as they
// are, but for ports, paths, and what a test sets of its own.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually, freePorts, keep, newFolder } from './kept.ts';

const NGINX = '/usr/sbin/nginx';
const OPENSSL = '/usr/bin/openssl';
const APT_GET = '/usr/bin/apt-get';
const PACKAGES: Readonly<Record<string, string>> = {
  nginx: NGINX,
  'libnginx-mod-http-modsecurity': '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so',
  'modsecurity-crs': '/usr/share/modsecurity-crs/rules',
  openssl: OPENSSL,
};

/** Installs what is missing where we may; what is still missing then is a reason to skip, not to fail. */
export function missingPackages(): string | false {
  const missing = () => Object.keys(PACKAGES).filter((name) => !existsSync(PACKAGES[name] ?? ''));
  const packages = missing();
  if (packages.length === 0) return false;
  const command = `apt-get install ${packages.join(' ')}`;
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return `needs: ${command}`;
  // Debian would start nginx right after the installation; this file is how one says no.
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stdio: 'pipe' } as const;
    const wait = ['-q', '-o', 'DPkg::Lock::Timeout=300'];
    execFileSync(APT_GET, ['update', ...wait], options);
    execFileSync(APT_GET, ['install', '-y', '--no-install-recommends', ...wait, ...packages], options);
  } catch (error) {
    return `${command} failed: ${(error as Error).message}`;
  } finally {
    if (ours) rmSync(policy, { force: true });
  }
  return missing().length > 0 && `${command} did not bring ${missing().join(', ')}`;
}

/** The name that the shipped files are written for. */
export const SERVER_NAME = 'fillpath.example.com';

export interface Finding {
  readonly requestId: string;
  readonly ip: string;
  readonly uri: string;
  readonly status: number;
  /** The rules' messages. */
  readonly messages: readonly string[];
}

export type Edge = Awaited<ReturnType<typeof startEdge>>;

export interface EdgeSettings {
  readonly productPort: number;
  /** Files of local/, instead of the shipped ones. */
  readonly local?: Readonly<Record<string, string>>;
  /** Instead of the shipped ones. */
  readonly limits?: Limits;
}

interface Limits {
  /** Requests of an address in five minutes; multiples of five. */
  readonly all: number;
  readonly auth: number;
  /** Connections of an address. */
  readonly connections: number;
  readonly connectionsInAll: number;
  readonly headersSeconds: number;
}

export async function startEdge({ productPort, local = {}, limits }: EdgeSettings) {
  const folder = newFolder('edge');
  // nginx's workers are www-data where we are root.
  chmodSync(folder, 0o711);
  for (const part of ['fillpath', 'log', 'tls', 'temp']) mkdirSync(join(folder, part));
  const [http = 0, https = 0, rules = 0] = await freePorts(3);
  const tls = makeCertificates(join(folder, 'tls'));
  layOut(join(folder, 'fillpath'), [
    ['/etc/nginx/fillpath/', `${folder}/fillpath/`],
    ['/var/log/fillpath-edge/', `${folder}/log/`],
    ['/var/www/fillpath-acme', `${folder}/temp`],
    [`/etc/letsencrypt/live/${SERVER_NAME}/`, `${folder}/tls/`],
    // A machine without IPv6 can be tested on too.
    [/^ *listen \[::\]:.*\n/gm, ''],
    [/listen 80\b/g, `listen 127.0.0.1:${http}`],
    [/listen 443\b/g, `listen 127.0.0.1:${https}`],
    ['127.0.0.1:8081', `127.0.0.1:${rules}`],
    ['server 127.0.0.1:8080', `server 127.0.0.1:${productPort}`],
    ...(limits ? limitReplacements(limits) : []),
  ]);
  for (const [name, text] of Object.entries(local))
    writeFileSync(join(folder, 'fillpath/local', name), text.replaceAll('TLS/', `${folder}/tls/`));
  writeFileSync(join(folder, 'nginx.conf'), mainConfiguration(folder));

  const command = [NGINX, '-p', folder, '-c', join(folder, 'nginx.conf')];
  const kept = keep(folder, command);
  const log = (name: string) => {
    const file = join(folder, 'log', name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const told = () => kept.output() + log('nginx.log');
  try {
    await eventually(() => (told().includes('[emerg]') ? false : isListening(https)), told).then((up) => {
      if (!up) throw new Error(`nginx did not start: ${told()}`);
    });
  } catch (fault) {
    await kept.stop();
    throw fault;
  }
  return {
    http,
    https,
    tls,
    stop: kept.stop,
    /** Runs update-ip-reputation on a list; its exit code, and what it said. */
    updateReputation(list: string): { code: number | null; text: string } {
      const file = join(folder, 'temp/list.txt');
      writeFileSync(file, list);
      const { status, stdout, stderr } = spawnSync(join(folder, 'fillpath/update-ip-reputation'), [file], {
        env: { ...process.env, FILLPATH_EDGE: join(folder, 'fillpath'), NGINX: command.join(' ') },
        encoding: 'utf8',
      });
      return { code: status, text: stdout + stderr };
    },
    /** Everything that the edge has written down. */
    logs: () => ['access.log', 'error.log', 'audit.log', 'nginx.log'].map(log).join('\n') + kept.output(),
    accessLog: () => jsonLines(log('access.log')) as Record<string, unknown>[],
    findings: (): Finding[] =>
      (jsonLines(log('audit.log')) as AuditLine[]).map(({ transaction }) => ({
        requestId: transaction.unique_id,
        ip: transaction.client_ip,
        uri: transaction.request.uri,
        status: transaction.response.http_code,
        messages: transaction.messages.map(({ message }) => message),
      })),
  };
}

interface AuditLine {
  readonly transaction: {
    readonly unique_id: string;
    readonly client_ip: string;
    readonly request: { readonly uri: string };
    readonly response: { readonly http_code: number };
    readonly messages: readonly { readonly message: string }[];
  };
}

// Whole lines only: the last one may be half written.
const jsonLines = (text: string): unknown[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const limitReplacements = ({ all, auth, connections, connectionsInAll, headersSeconds }: Limits) =>
  [
    ['rate=400r/m', `rate=${all / 5}r/m`],
    ['burst=1999', `burst=${all - 1}`],
    ['rate=1600r/m', `rate=${(all * 4) / 5}r/m`],
    ['burst=7999', `burst=${all * 4 - 1}`],
    ['rate=20r/m', `rate=${auth / 5}r/m`],
    ['burst=99 ', `burst=${auth - 1} `],
    ['rate=80r/m', `rate=${(auth * 4) / 5}r/m`],
    ['burst=399 ', `burst=${auth * 4 - 1} `],
    ['limit_conn fillpath_connections      100', `limit_conn fillpath_connections ${connections}`],
    ['limit_conn fillpath_connections_site 400', `limit_conn fillpath_connections_site ${connections * 4}`],
    ['limit_conn fillpath_connections_all  800', `limit_conn fillpath_connections_all ${connectionsInAll}`],
    ['client_header_timeout 10s', `client_header_timeout ${headersSeconds}s`],
  ] as const;

/** Copies deploy/edge. A replacement that finds nothing fails: the test would be of something else than it says. */
function layOut(to: string, replacements: readonly (readonly [from: string | RegExp, to: string])[]): void {
  cpSync(join(import.meta.dirname, '../../deploy/edge'), to, { recursive: true });
  const files = globSync(join(to, '**/*.conf'));
  const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  for (const [from, into] of replacements) {
    let found = false;
    for (const [file, text] of texts) {
      const replaced = text.replaceAll(from, into);
      found ||= replaced !== text;
      texts.set(file, replaced);
    }
    if (!found) throw new Error(`deploy/edge has no ${from}`);
  }
  for (const [file, text] of texts) writeFileSync(file, text);
}

/** What /etc/nginx/nginx.conf of Debian is: the same settings above ours. */
const mainConfiguration = (folder: string) => `
${process.getuid?.() === 0 ? 'user www-data;' : ''}
worker_processes 2;
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/log/nginx.log;
load_module ${PACKAGES['libnginx-mod-http-modsecurity']};
events { worker_connections 1024; }
http {
  sendfile on;
  tcp_nopush on;
  types_hash_max_size 2048;
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;
  ssl_prefer_server_ciphers on;
  access_log ${folder}/log/nginx.log;
  gzip on;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/temp/${name};`).join(' ')}
  include ${folder}/fillpath/fillpath.conf;
}
`;

const isListening = (port: number): Promise<true | null> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(null));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The server's own certificate; and client certificates of the charting platform's authority and of a stranger's. */
function makeCertificates(folder: string) {
  const openssl = (...args: string[]) => execFileSync(OPENSSL, args, { cwd: folder, stdio: 'pipe' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const selfSigned = (name: string, subject: string, ...extra: string[]) =>
    openssl(
      'req', '-x509', ...newKey, '-days', '2', '-subj', subject, '-keyout', `${name}.key`, '-out', `${name}.pem`,
      ...extra,
    ); // biome-ignore format: a command line
  const issued = (authority: string, name: string, subject: string): ClientCertificate => {
    openssl('req', ...newKey, '-subj', subject, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    openssl('x509', '-req', '-days', '2', '-CAcreateserial', '-in', `${name}.csr`, '-out', `${name}.pem`,
      '-CA', `${authority}.pem`, '-CAkey', `${authority}.key`); // biome-ignore format: a command line
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  selfSigned('server', `/CN=${SERVER_NAME}`, '-addext', `subjectAltName=DNS:${SERVER_NAME}`);
  writeFileSync(join(folder, 'fullchain.pem'), read('server.pem'));
  writeFileSync(join(folder, 'privkey.pem'), read('server.key'));
  selfSigned('charting-ca', '/CN=Charting CA');
  selfSigned('stranger-ca', '/CN=Another CA');
  selfSigned('impostor-ca', '/CN=Charting CA');
  const platform = '/C=US/ST=Ohio/L=Westerville/O=TradingView, Inc./CN=TradingView Webhooks';
  return {
    ca: read('server.pem'),
    charting: issued('charting-ca', 'charting', platform),
    otherName: issued('charting-ca', 'other-name', '/O=TradingView, Inc./CN=Somebody Else'),
    nameInside: issued('charting-ca', 'name-inside', '/CN=Somebody Else/O=x,CN=TradingView Webhooks'),
    stranger: issued('stranger-ca', 'stranger', platform),
    impostor: issued('impostor-ca', 'impostor', platform),
  };
}

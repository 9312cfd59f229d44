// The machine: who can read the data, whether there is room for more, and whether the port is ours.

import { constants } from 'node:fs';
import { access, readdir, readFile, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Config } from '../../config/config.ts';
import { TABLE } from '../../config/table.ts';
import { CannotStart } from '../../domain/cannot-start.ts';
import { refuseTakenPort } from '../../roles/port.ts';
import { type Check, type Finding, found } from './finding.ts';

export const machineChecks: readonly Check[] = [
  {
    area: 'permissions',
    about: 'who can read the data',
    look: ({ data, workers }) => folderFindings(data.dir, workers.envFile),
  },
  { area: 'permissions', about: 'who can read .env', look: () => envFileFindings() },
  { area: 'disk', about: 'room on the disk', look: ({ data }) => diskFindings(data.dir) },
  { area: 'port', about: 'the port', look: portFindings },
  { area: 'configuration', about: 'file handles', look: limitFindings },
];

async function folderFindings(dir: string, envFile?: string): Promise<Finding[]> {
  const wrong = found('permissions');
  const findings: Finding[] = [];
  const folder = await stat(dir).catch(() => null);
  if (folder && !folder.isDirectory())
    return [
      wrong(
        `DATA_DIR is ${dir}, which is not a folder.`,
        'Set DATA_DIR to a folder; a missing one is created at the start.',
      ),
    ];
  const ours = folder ? dir : await nearestFolder(dir);
  if (await access(ours, constants.W_OK).catch(() => 'refused'))
    findings.push(
      wrong(
        `DATA_DIR ${dir} cannot be written to by this user.`,
        `Run it as the owner of that folder, or give it to the user of the service: chown -R fillpath ${dir}.`,
      ),
    );
  if (!folder) return findings;
  const files = [
    ...(await listOf(dir, /^(fillpath\.sqlite.*|audit-head.*|lock)$/)),
    ...(await listOf(join(dir, 'keys'))),
  ];
  const open: string[] = [];
  for (const path of files) if (((await stat(path).catch(() => null))?.mode ?? 0) & 0o077) open.push(path);
  if (folder.mode & 0o077 && (folder.mode & 0o007 || open.length > 0))
    findings.push(
      wrong(
        `DATA_DIR ${dir} can be entered by others on this machine${open.length > 0 ? `, and they can read ${open.join(', ')}` : ''}.`,
        `chmod -R go= ${dir}`,
      ),
    );
  else if (open.length > 0)
    findings.push(
      wrong(`Users other than its owner could read ${open.join(', ')}.`, `chmod go= ${open.join(' ')}`),
    );
  if (envFile && ((await stat(envFile).catch(() => null))?.mode ?? 0o077) & 0o077)
    findings.push(
      wrong(
        `WORKER_ENV_FILE ${envFile}, which holds WORKER_KEY, is missing or can be read by others.`,
        `chmod go= ${envFile}`,
      ),
    );
  return findings;
}

/** Secrets of the service, and of the commands that use its API. */
const SECRETS = new Set<string>([
  ...TABLE.flatMap(([name, { secret }]) => (secret ? [name] : [])),
  'FILLPATH_KEY',
  'FILLPATH_SECRET',
]);

/** As the program reads it: where it was started. */
export async function envFileFindings(file = '.env'): Promise<Finding[]> {
  const mode = (await stat(file).catch(() => null))?.mode ?? 0;
  if ((mode & 0o077) === 0) return [];
  const held = Object.entries(parseEnv(await readFile(file, 'utf8'))).flatMap(([name, value]) =>
    value && SECRETS.has(name) ? [name] : [],
  );
  if (held.length === 0) return [];
  return [
    found('permissions')(
      `Users other than its owner could read ${file}, which holds ${held.join(', ')}.`,
      `chmod go= ${file}`,
    ),
  ];
}

const listOf = async (dir: string, which = /./): Promise<string[]> =>
  (await readdir(dir).catch(() => [])).filter((name) => which.test(name)).map((name) => join(dir, name));

async function nearestFolder(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at))
    if ((await stat(at).catch(() => null)) || dirname(at) === at) return at;
}

const MB = 2 ** 20;
/** Some 100,000 orders, and what a backup and the log want besides. */
const LEAST_FREE = 500 * MB;

async function diskFindings(dir: string): Promise<Finding[]> {
  const { bavail, blocks, bsize } = await statfs(await nearestFolder(dir));
  return roomFindings(dir, { free: bavail * bsize, all: blocks * bsize });
}

export function roomFindings(dir: string, { free, all }: { free: number; all: number }): Finding[] {
  if (free >= LEAST_FREE && free >= all / 50) return [];
  return [
    found('disk')(
      `The disk of ${dir} has ${Math.floor(free / MB)} MB of ${Math.floor(all / MB)} MB left: once it is full, no order is accepted.`,
      'Make room, or move DATA_DIR to a larger disk. AUDIT_DAYS, SIGNAL_DAYS and ORDER_DAYS bound what is kept; docs/operations/size.md says how much that is.',
    ),
  ];
}

async function portFindings({ role, http: { host, port } }: Config): Promise<Finding[]> {
  if (port === 0 || role === 'worker' || role === 'verifier') return [];
  const wrong = found('port');
  const address =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    await refuseTakenPort({ host, port });
    return [];
  } catch (fault) {
    if (!(fault instanceof CannotStart)) throw fault;
    const other = await fetch(`http://${address}:${port}/health/live`, { signal: AbortSignal.timeout(2_000) })
      .then((answer) => answer.json() as Promise<{ status?: string; version?: string }>)
      .catch(() => null);
    if (other?.status !== 'up' || !other.version)
      return [
        wrong(
          `${fault.message.split('. ')[0]}.`,
          'Stop the other program, or set PORT (or HOST) to a free one.',
        ),
      ];
    if (other.version === packageJson.version) return [];
    return [
      wrong(
        `What runs on port ${port} is Fillpath ${other.version}, and this is ${packageJson.version}.`,
        'Restart the service, so that it runs what is installed; or run the doctor of that version.',
      ),
    ];
  }
}

/** What is open besides connections: databases, logs, brokers. */
const OTHER_HANDLES = 100;

async function limitFindings({ http, role }: Config): Promise<Finding[]> {
  if (role === 'worker' || role === 'verifier') return [];
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const most = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return most === undefined ? [] : handleFindings(http.connections.inAll, Number(most));
}

export function handleFindings(connections: number, most: number): Finding[] {
  if (connections + OTHER_HANDLES <= most) return [];
  return [
    found('configuration')(
      `MAX_CONNECTIONS is ${connections}, and this user may open ${most} files, connections among them.`,
      `Raise the limit (ulimit -n ${connections + 1_000}; LimitNOFILE= with systemd), or lower MAX_CONNECTIONS.`,
    ),
  ];
}

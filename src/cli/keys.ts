// Replaces the service's own keys, and seals anew what is sealed under them. Whatever dies when: run it again, and it goes
// on where it was. Keys that lie in DATA_DIR are replaced there; those of the environment are the operator's to replace, and
// the command says with what, and when.

import { writeAudit } from '../app/audit/audit.ts';
import { type Replaced, replaceAppKey } from '../app/operation/replace-app-key.ts';
import type { Config } from '../config/config.ts';
import {
  forgetKeptKey,
  keptKey,
  openingKeys,
  randomKey,
  readKeptKey,
  replaceKeptKey,
  workerKey,
} from '../config/keys.ts';
import { revokeAllSessions } from '../data/identity/sessions.ts';
import { type PrivateJwk, sealingKey } from '../domain/identity/sealed.ts';
import { asOperator, type Operator } from '../roles/operator.ts';
import { type Resealed, sealToFirst } from '../roles/reseal-credentials.ts';
import { type AddCommands, examples } from './desk.ts';
import type { ExitCode, Output } from './output.ts';

const ROTATIONS: Readonly<Record<string, (config: Config, output: Output) => Promise<ExitCode>>> = {
  APP_KEY: rotateAppKey,
  JWT_SECRET: rotateJwtSecret,
  WORKER_KEY: rotateWorkerKey,
};

export const keys: AddCommands = (noun, { output, config, does }) => {
  noun
    .command('rotate')
    .description('replace a key, and seal anew what is sealed under it')
    .argument('<key>', Object.keys(ROTATIONS).join(', '))
    .addHelpText(
      'after',
      `
APP_KEY      seals webhook secrets, second factors and the audit log. The service must be stopped.
JWT_SECRET   signs sessions: they all end. The service must be stopped where the key lies in DATA_DIR.
WORKER_KEY   opens broker credentials; nobody has to send them again. The service must be stopped where the key lies in
             DATA_DIR.
If it is interrupted, run it again.
${examples('keys rotate APP_KEY')}`,
    )
    .action(
      does(async (key: string) => {
        const rotate = Object.hasOwn(ROTATIONS, key) ? ROTATIONS[key] : undefined;
        if (rotate) return rotate(config(), output);
        output.complain(`The keys are ${Object.keys(ROTATIONS).join(', ')}.`);
        return 2;
      }),
    );
};

const bytesOf = (key: string): Buffer => Buffer.from(key, 'base64url');
const NEXT = 'APP_KEY.next';

async function rotateAppKey(config: Config, output: Output): Promise<ExitCode> {
  const { dir } = config.data;
  const { app, appPrevious } = config.keys;
  if (app !== undefined && appPrevious === undefined) {
    output.print(
      'Nothing was replaced yet. Stop every process of the service. Then set, wherever APP_KEY is set,',
    );
    output.print(`  APP_KEY=${randomKey()}`);
    output.print('  APP_KEY_PREVIOUS=(what APP_KEY is now)');
    output.print('and run this again before anything is started.');
    return 1;
  }
  if (app !== undefined && appPrevious !== undefined && bytesOf(app).equals(bytesOf(appPrevious))) {
    output.complain(
      'APP_KEY_PREVIOUS is the same key as APP_KEY: nothing was replaced. Set APP_KEY to a new one, and APP_KEY_PREVIOUS to what it was; without APP_KEY_PREVIOUS this command makes a new key for you.',
    );
    return 2;
  }
  return asOperator<ExitCode>(
    config,
    'keys rotate APP_KEY',
    async (operator) => {
      if (app !== undefined && appPrevious !== undefined) {
        const replaced = await replaceAppKey(operator, { before: bytesOf(appPrevious), after: bytesOf(app) });
        if (!replaced) return neither(output, 'APP_KEY_PREVIOUS nor with APP_KEY');
        output.print(
          'Take APP_KEY_PREVIOUS out of the environment, and start every process with the new APP_KEY.',
        );
        return tellReplaced(replaced, output);
      }
      const before = readKeptKey(dir, 'APP_KEY');
      if (before === null) throw new Error(`APP_KEY is not set, and there is none in ${dir}.`);
      // The last rotation was cut off after it was done: this is another one, and takes another key.
      if (readKeptKey(dir, NEXT) === before) forgetKeptKey(dir, NEXT);
      // On the disk before anything is sealed under it: from then on it can only be finished.
      const after = keptKey(dir, NEXT);
      const replaced = await replaceAppKey(operator, { before: bytesOf(before), after: bytesOf(after) });
      if (!replaced) return neither(output, `keys/APP_KEY nor with keys/${NEXT}`);
      const old = replaceKeptKey(dir, 'APP_KEY', after);
      forgetKeptKey(dir, NEXT);
      output.print(`The old key is kept in ${old}: a backup from before can only be read with it.`);
      return tellReplaced(replaced, output);
    },
    { alone: true },
  );
}

function neither({ complain }: Output, names: string): ExitCode {
  complain(`This database was made neither with ${names}: nothing was changed.`);
  return 2;
}

function tellReplaced({ resealed, unreadable }: Replaced, output: Output): ExitCode {
  output.print(
    `${resealed === 1 ? '1 secret is' : `${resealed} secrets are`} sealed anew. Nobody is logged out, and heads of the audit log stay good.`,
  );
  if (unreadable.length === 0) return 0;
  output.complain(
    `${unreadable.length} could not be read with either key, and were lost earlier; they belong to these accounts or users:\n  ${unreadable.join('\n  ')}`,
  );
  return 1;
}

async function rotateJwtSecret(config: Config, output: Output): Promise<ExitCode> {
  const { dir } = config.data;
  if (config.keys.jwt !== undefined) {
    output.print('Set, for every API process, and start them again:');
    output.print(`  JWT_SECRET=${randomKey()}`);
    output.print('Every session ends with that; API keys and webhooks keep working.');
    return 0;
  }
  return asOperator<ExitCode>(
    config,
    'keys rotate JWT_SECRET',
    async (operator) => {
      if (readKeptKey(dir, 'JWT_SECRET') === null)
        throw new Error(`JWT_SECRET is not set, and there is none in ${dir}.`);
      // Nothing could open them any more; and where this is cut off, it is run again.
      await operator.db.commit([revokeAllSessions()]);
      replaceKeptKey(dir, 'JWT_SECRET', randomKey(), { keep: false });
      await noted(operator, 'JWT_SECRET');
      output.print(
        'JWT_SECRET is replaced: everybody has to log in again. API keys and webhooks keep working.',
      );
      return 0;
    },
    { alone: true },
  );
}

async function rotateWorkerKey(config: Config, output: Output): Promise<ExitCode> {
  const { dir } = config.data;
  if (config.keys.worker) return ofEnvironment(config, config.keys.worker, output);
  if (config.role !== 'all') {
    output.complain('Run this where WORKER_KEY is: in the environment of a worker.');
    return 2;
  }
  return asOperator<ExitCode>(
    config,
    'keys rotate WORKER_KEY',
    async (operator) => {
      if (readKeptKey(dir, 'WORKER_KEY') === null)
        throw new Error(`WORKER_KEY is not set, and there is none in ${dir}.`);
      const known = openingKeys(config);
      // More than one: it was cut off, and goes on.
      if (known.length === 1) {
        const made = JSON.parse(workerKey()) as PrivateJwk;
        const old = replaceKeptKey(dir, 'WORKER_KEY', JSON.stringify({ keys: [made, ...known] }));
        output.print(`The old key is kept in ${old}: a backup from before can only be read with it.`);
      }
      const [first, ...others] = openingKeys(config);
      if (!first) throw new Error('keys/WORKER_KEY holds no key.');
      const done = await sealing(operator, [first, ...others], output);
      if (isAllSealed(done)) replaceKeptKey(dir, 'WORKER_KEY', JSON.stringify(first), { keep: false });
      await noted(operator, 'WORKER_KEY');
      return tellResealed(done, output, 'Stop every process of the service, and run this again.');
    },
    { alone: true },
  );
}

/** Beside the running service: processes that have both keys open both. */
async function ofEnvironment(
  config: Config,
  [first, ...others]: readonly [PrivateJwk, ...PrivateJwk[]],
  output: Output,
): Promise<ExitCode> {
  if (others.length === 0) {
    const made = JSON.parse(workerKey()) as PrivateJwk;
    const { kty, crv, x, y } = sealingKey(made);
    output.print('Nothing was replaced yet. Set for every worker, and start them again first,');
    output.print(`  WORKER_KEY=${JSON.stringify({ keys: [made, first] })}`);
    output.print('then for every API process, and start them again,');
    output.print(`  WORKER_PUBLIC_KEY=${JSON.stringify({ kty, crv, x, y })}`);
    output.print('then run this again, with that WORKER_KEY.');
    return 1;
  }
  return asOperator<ExitCode>(config, 'keys rotate WORKER_KEY', async (operator) => {
    const done = await sealing(operator, [first, ...others], output);
    await noted(operator, 'WORKER_KEY');
    // One with the old public key that has sealed nothing meanwhile cannot be told from here.
    if (isAllSealed(done))
      output.print(
        'Where every API process has the new WORKER_PUBLIC_KEY, WORKER_KEY may be cut down to its first key from now on; backups from before need the others.',
      );
    return tellResealed(
      done,
      output,
      'Keep every key of WORKER_KEY. Start every API process again with the new WORKER_PUBLIC_KEY, and run this again.',
    );
  });
}

async function sealing(
  operator: Operator,
  all: readonly [PrivateJwk, ...PrivateJwk[]],
  output: Output,
): Promise<Resealed> {
  const progress = output.progress();
  try {
    return await sealToFirst(operator, all, (count) => progress.tell(`${count} credentials`));
  } finally {
    progress.end();
  }
}

const isAllSealed = ({ unreadable, behind }: Resealed): boolean => unreadable.length === 0 && behind === 0;

function tellResealed(done: Resealed, output: Output, advice: string): ExitCode {
  const { resealed, unreadable, behind } = done;
  output.print(`${resealed} broker credentials are sealed to the new key. Nobody has to send them again.`);
  if (behind > 0)
    output.complain(
      `${behind} broker credentials are still sealed to another key: they were sent again in the meantime. ${advice}`,
    );
  if (unreadable.length > 0)
    output.complain(
      `${unreadable.length} could not be opened with any of the keys. Their owners must send them again. The accounts are:\n  ${unreadable.join('\n  ')}`,
    );
  return isAllSealed(done) ? 0 : 1;
}

const noted = (operator: Operator, key: string) =>
  writeAudit(operator, operator.context, {
    userId: null,
    action: 'key_replaced',
    failure: null,
    metadata: { key },
  });

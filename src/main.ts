// The composition root: configuration → foundation → roles. What is started last is stopped first.

import { existsSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import packageJson from '../package.json' with { type: 'json' };
import { agreeOnAppKey } from './app/operation/app-key.ts';
import { type FirstUser, welcome } from './app/operation/first-start.ts';
import { readClientSettings } from './config/client.ts';
import { type Config, ConfigError, readConfig } from './config/config.ts';
import { restBetweenPieces } from './data/engine/give-way.ts';
import { CannotStart } from './domain/cannot-start.ts';
import { appKeyOf } from './roles/adapters.ts';
import { layFoundation, type Parts } from './roles/foundation.ts';
import { childLauncher, serveParent } from './roles/launch.ts';
import { portRefusal, refuseTakenPort } from './roles/port.ts';
import type { Host } from './worker/host/host.ts';

/** A stop that takes longer is cut off: what is unfinished is recovered at the next start, or by another process. */
const STOP_PATIENCE_MS = 10_000;

export type { Parts };

export interface Fillpath {
  /** null: this role has no API. */
  readonly server: FastifyInstance | null;
  /** null: this role hosts no workers. */
  readonly host: Host | null;
  listen(): Promise<string>;
  /** On an empty database, where it is asked for. Once it listens: what it tells is told once. */
  makeFirstUser(): Promise<FirstUser | null>;
  stop(): Promise<void>;
}

/** Everything but listening. A role loads what it needs, and no more: a worker host is to be there in half a second. */
export async function openFillpath(config: Config, parts: Parts = {}): Promise<Fillpath> {
  const { role } = config;
  const closers: (() => unknown)[] = [];

  async function stop(): Promise<void> {
    const faults: unknown[] = [];
    for (const close of closers.splice(0).reverse())
      try {
        await close();
      } catch (fault) {
        // The rest is to be closed nevertheless.
        faults.push(fault);
      }
    if (faults.length > 0) throw faults[0];
  }

  try {
    const base = await layFoundation(config, parts, closers);
    if (role !== 'worker') await agreeOnAppKey(base, appKeyOf(config));
    const verifying = role === 'all' || role === 'verifier' ? await import('./roles/verifier.ts') : null;
    const sealer = (await verifying?.openSealing(base)) ?? null;
    const hosting = role === 'all' || role === 'worker' ? await import('./roles/worker.ts') : null;
    const host = hosting?.openHosting(base) ?? null;
    const api =
      role === 'all' || role === 'api' ? await (await import('./roles/api.ts')).openApi(base, sealer) : null;
    if (verifying && sealer) await verifying.openVerifying(base, sealer);

    return {
      server: api?.server ?? null,
      host,
      stop,
      makeFirstUser: async () => api?.makeFirstUser() ?? null,
      async listen() {
        const { host: address, port, baseUrl } = config.http;
        if (!api) {
          const { openProbe } = await import('./roles/probe.ts');
          return `http://localhost:${await openProbe(base, sealer)}`;
        }
        await api.server.listen({ host: address, port }).catch((fault: unknown) => {
          throw portRefusal(fault, { host: address, port });
        });
        const { port: metricsPort } = config.edge.metrics;
        if (metricsPort !== null) {
          const { openProbe } = await import('./roles/probe.ts');
          base.log.info(
            { port: await openProbe(base, sealer, metricsPort) },
            'metrics are read at this port',
          );
        }
        const { port: taken } = api.server.server.address() as AddressInfo;
        return port === 0 ? `http://localhost:${taken}` : baseUrl;
      },
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

/** Ends with the process: what it starts is told to stop by signals. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    await carryOut(args);
  } catch (fault) {
    console.error(fault instanceof ConfigError || fault instanceof CannotStart ? fault.message : fault);
    // Of whoever asks for more than a plain start, 1 is a finding.
    process.exit(args.every((word) => word === 'start') ? 1 : 2);
  }
}

async function carryOut(args: readonly string[]): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile();
  const isStart = args[0] === 'start';
  const flags = isStart ? args.slice(1) : args;
  const isDemo = flags.length === 1 && flags[0] === '--demo';
  if (flags.length > 0 && !isDemo) {
    const { openInput } = await import('./cli/input.ts');
    const { openOutput } = await import('./cli/output.ts');
    const { runCommand } = await import('./cli/program.ts');
    // Who reads only the beginning, as `head` does, is no fault.
    process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 2));
    const output = openOutput({ out: process.stdout, err: process.stderr });
    const around = {
      config: () => readConfig(process.env),
      client: () => readClientSettings(process.env),
      input: openInput(process.stdin, process.stderr),
      giveWay() {
        setPriority(constants.priority.PRIORITY_LOW);
        restBetweenPieces();
      },
    };
    process.exitCode = await runCommand(around, args, output);
    return;
  }
  // As `npm start`. An image has the pages, and not what builds them.
  if (isStart && existsSync(join(import.meta.dirname, '../web/build.ts'))) await import('../web/build.ts');
  const config = readConfig(process.env);
  // A process without an API answers probes, at another port if need be.
  const hasApi = config.role === 'all' || config.role === 'api';
  if (hasApi) await refuseTakenPort(config.http);
  // A part of every start is compiling what has not changed since the last one. Not in /tmp, which others can write to.
  mkdirSync(config.data.dir, { recursive: true, mode: 0o700 });
  enableCompileCache(join(config.data.dir, 'cache'));
  const playing = isDemo ? await import('./roles/demo.ts') : null;
  const demo = (await playing?.prepareDemo(config, openFillpath, console.log)) ?? null;
  const launcher = childLauncher(config, process.env);
  const fillpath = await openFillpath(demo?.config ?? config, { launcher, ...demo?.parts });
  const address = await fillpath.listen().catch(async (fault: unknown) => {
    await fillpath.stop();
    throw fault;
  });
  const firstUser = await fillpath.makeFirstUser();

  let isStopping = false;
  const stop = (why: string) => {
    if (isStopping) return;
    isStopping = true;
    console.log(`${why}: finishing what is under way`);
    setTimeout(() => process.exit(1), STOP_PATIENCE_MS).unref();
    void Promise.resolve(demo?.stop())
      .then(() => fillpath.stop())
      .then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);

  // From here on it can be told to stop, and whoever waits for this line may do so.
  if (demo && fillpath.server) {
    console.log(demo.welcome(address));
    demo.begin(fillpath.server);
  }
  if (firstUser) console.log(welcome(firstUser, address));
  console.log(`Fillpath ${packageJson.version} is ready at ${address}`);
  if (fillpath.host && process.connected) serveParent(fillpath.host, stop);
}

if (import.meta.main) void main(process.argv.slice(2));

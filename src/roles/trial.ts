// What a trial stands on at the machine: the account's connector with a recorder around it, a journal on the disk, and the lock that
// keeps two trials of an account apart. A command runs it beside the service, or without it.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import { type Journal, PATIENCE, type Patience, type Sent, trialIds } from '../app/trial/desk.ts';
import type { Held } from '../app/trial/hold.ts';
import type { FieldNews } from '../app/trial/trial.ts';
import type { Broker } from '../broker/broker.ts';
import { openBrokers, type Wire } from '../broker/registry.ts';
import { type Comparison, compareTranscript } from '../broker/transcript/compare.ts';
import { readTranscript } from '../broker/transcript/format.ts';
import { knownFields } from '../broker/transcript/known.ts';
import { createRecorder, type Recorder } from '../broker/transcript/recorder.ts';
import { openingKeys } from '../config/keys.ts';
import type { Account } from '../data/accounts/accounts.ts';
import { lockDataDir } from '../data/engine/sqlite.ts';
import { openPaperLedger } from '../data/orders/paper-ledger.ts';
import { BROKER_NAMES, BROKERS, type BrokerName, NEEDS_CREDENTIALS } from '../domain/brokers.ts';
import { CannotStart } from '../domain/cannot-start.ts';
import { credentialsOpener } from '../worker/line/credentials.ts';
import type { Operator } from './operator.ts';

/** What was begun and has not ended, as far as it is known. */
interface Unfinished extends Held {
  readonly trial: string;
  readonly symbol: string;
  /** The account was halted for it, and was not before. */
  readonly isHeld: boolean;
  readonly sent: readonly Sent[];
}

export interface TrialRoom {
  /** Of a trial before, which did not end. */
  readonly unfinished: Unfinished | null;
  /** Keeps what is begun now. */
  begin(begun: Omit<Unfinished, 'sent'>): Journal;
  /** Nothing is open any more. */
  end(): void;
  /** Where the transcript is written. */
  readonly file: string;
  readonly patience: Patience;
  readonly recorder: Recorder;
  idOf(trial: string): ReturnType<typeof trialIds>;
  news(): FieldNews;
  open(): Promise<Broker>;
  wait(ms: number): Promise<void>;
  close(): void;
}

const wireless: Wire = {
  fetch: () => {
    throw new Error('this broker has no wire');
  },
  openSocket: () => {
    throw new Error('this broker has no wire');
  },
};

export async function openTrialRoom(
  { config, db, clock }: Operator,
  account: Account,
  { symbol, file }: { readonly symbol: string; readonly file: string | undefined },
): Promise<TrialRoom> {
  const { id, brokerName, environment, marginMode, paper, sealedCredentials } = account;
  const folder = join(config.data.dir, 'trials', id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFor(folder);
  const journal = join(folder, 'open.json');
  const began = new Date(clock.now()).toISOString();
  const into = file ?? join(folder, `${began.replace(/[:.]/g, '-')}.jsonl`);
  const credentials =
    sealedCredentials === null
      ? null
      : await credentialsOpener(openingKeys(config))(sealedCredentials, account);
  if (NEEDS_CREDENTIALS[brokerName] && credentials === null)
    throw new Error(
      `The account has no credentials yet. Seal them on its page, and verify them, before you try anything.`,
    );
  let out: number | null = null;
  const known = brokerName === 'paper' ? {} : knownFields(brokerName);
  const recorder = createRecorder({
    head: { fillpath: packageJson.version, broker: brokerName, environment, symbol, began },
    secrets: Object.values(credentials ?? {}).map(String),
    known,
    append(text) {
      out ??= openSync(into, 'wx', 0o600);
      writeSync(out, text);
    },
  });
  const wait = (ms: number) => sleep(ms);
  const brokers = openBrokers({
    ...{ ledger: openPaperLedger(db), clock, wait, urls: config.brokers.urls },
    wire: brokerName === 'paper' ? wireless : recorder.wire,
  });
  return {
    unfinished: existsSync(journal) ? (JSON.parse(readFileSync(journal, 'utf8')) as Unfinished) : null,
    begin: (begun) => ({ keep: (sent) => keep(journal, JSON.stringify({ ...begun, sent })) }),
    end: () => rmSync(journal, { force: true }),
    file: into,
    patience: { ...PATIENCE, callMs: config.brokers.timeoutMs, lagMs: config.timings.positionLagMs },
    recorder,
    idOf: trialIds,
    news() {
      const named = (wanted: 'new' | 'missing') =>
        recorder
          .differences()
          .flatMap(({ what, call, field }) => (what === wanted ? [`${call} ${field}`] : []));
      return { added: named('new'), missing: named('missing') };
    },
    open: () =>
      recorder.opening(brokers[brokerName])(
        { id, environment, marginMode, paper, credentials },
        AbortSignal.timeout(config.brokers.timeoutMs * 3),
      ),
    wait,
    close() {
      if (out !== null) closeSync(out);
      lock.release();
    },
  };
}

function lockFor(folder: string): { release(): void } {
  try {
    return lockDataDir(folder);
  } catch (fault) {
    if (fault instanceof CannotStart) throw new Error('Another trial of this account is running.');
    throw fault;
  }
}

/** Whole on the disk, or as it was before. */
function keep(file: string, text: string): void {
  const next = `${file}.next`;
  const out = openSync(next, 'w', 0o600);
  writeSync(out, text);
  fsyncSync(out);
  closeSync(out);
  renameSync(next, file);
}

export interface Compared extends Comparison {
  readonly broker: string;
  readonly title: string;
  readonly began: string;
  /** null: it is whole. */
  readonly cutAfter: number | null;
}

/** Throws NoTranscript where it is none. */
export async function compareFile(text: string): Promise<Compared> {
  const transcript = readTranscript(text);
  const { broker, began } = transcript.head;
  const name = BROKER_NAMES.find((each) => each === broker);
  if (name === undefined)
    throw new Error(`This Fillpath knows no broker ${broker}. Use the one that wrote the transcript.`);
  if (name === 'paper') throw new Error('The paper broker has no wire: there is nothing to compare.');
  const comparison = await compareTranscript(transcript, {
    known: knownFields(name),
    openOver: (wire, clock) =>
      openBrokers({
        ...{ clock, wire, wait: async () => {}, urls: { [name]: `http://${name}.invalid` } },
        ledger: NO_LEDGER,
      })[name],
  });
  return {
    ...comparison,
    broker: name,
    title: BROKERS[name as BrokerName].title,
    began,
    cutAfter: transcript.cutAfter,
  };
}

/** Nobody asks the paper broker here. */
const NO_LEDGER = {} as Parameters<typeof openBrokers>[0]['ledger'];

// One protected position, looked after as a worker does it, by a clock that a test moves.

import type { TestContext } from 'node:test';
import { BrokerUnavailable, type StandingStop, type StopOrder } from '../../src/broker/broker.ts';
import { type Decimal, decimal } from '../../src/domain/decimal.ts';
import { type AccountId, type OrderId, timestamp, type UserId } from '../../src/domain/ids.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import { createLanes } from '../../src/worker/lane/lanes.ts';
import { createProtecting, type ProtectingDeps } from '../../src/worker/lane/protecting.ts';
import type { Line } from '../../src/worker/line/line.ts';

const ACCOUNT = 'a' as AccountId;
const START = Date.parse('2026-11-17T12:00:00Z');
/** As fine as the clock is moved. */
const STEP_MS = 50;

const WANTED: Protection = {
  ...{ id: '00000000-0000-7000-8000-00000000000a', version: 1, revision: 1, userId: 'u' as UserId },
  ...{ accountId: ACCOUNT, brokerName: 'paper', simulation: false, symbol: 'BTCUSDT', instrument: 'BTCUSDT' },
  ...{ side: 'long', state: 'armed', reason: null, wantedBy: [], setBy: 'o' as OrderId, adopted: null },
  ...{ heard: [], stop: { price: decimal(90), kind: 'stop_loss' }, targets: [], trail: null },
  ...{ breakEven: null, timeStopAt: null, legs: [], refused: null, restoredAt: [], targetsRestoredAt: [] },
  ...{
    expiredAt: [],
    movedAt: null,
    targetsAgainAt: null,
    suspendedAt: null,
    closesFor: null,
    closing: null,
  },
  ...{ isResumed: false, credentialsVersion: 1, unprotectedMs: null, seenAt: null, heldAt: null },
  ...{ unprotectedSince: timestamp(START), dueAt: timestamp(START) },
};

const INSTRUMENT = {
  ...{ symbol: 'BTCUSDT', description: 'Bitcoin', contractSize: decimal(1), quantityStep: decimal(1) },
  ...{ minQuantity: decimal(1), tickSize: decimal(1), open: true, nextOpen: null },
};

/** Until nothing happens any more without the clock. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 4; turns++) await new Promise((resolve) => void setImmediate(resolve));
}

/** One is held at first. Whoever asks for the position, or whom the line of sweeps lets wait, may be made to do something else. */
export function openProtecting(t: TestContext, more: Partial<Protection> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = START;
  let wanted: Protection = { ...WANTED, ...more };
  let stops: readonly StandingStop[] = [];
  const lanes = createLanes();

  const desk = {
    held: decimal(1) as Decimal,
    /** When the account was looked at, in ms since the beginning. */
    looks: [] as number[],
    closes: [] as number[],
    /** Before each answer. */
    onPosition: async (): Promise<void> => {},
    onPlaced: (): void => {},
    /** A sweep has to wait in the line. */
    isBusy: false,
    onWait: (): void => {},
    /** Its turn in the line has come. */
    come: (): void => {},
    /** The broker does not know the name any more. */
    isGone: false,
    /** And shows what is held by another name, which cannot be traded. */
    isRenamed: false,
    /** By its list it is not traded at present. */
    isSuspended: false,
    refusesStops: false,
    isAway: false,
    hear: (word?: 'perhaps' | 'certainly' | 'asked') => protecting.hear(ACCOUNT, word),
    begin: () => protecting.begin().then(rest),
    wanted: () => wanted,
    /** What is covered by stops. */
    covered: () => stops.map(({ quantity }) => Number(quantity)),
    at: () => now - START,
    async pass(ms: number): Promise<void> {
      await rest();
      for (let left = ms; left > 0; left -= STEP_MS) {
        now += STEP_MS;
        t.mock.timers.tick(STEP_MS);
        await rest();
      }
    },
  };

  const save = async (protection: Protection) => {
    wanted = { ...protection, version: wanted.version + 1 };
    return wanted;
  };
  const line = {
    capabilities: { stop: 'sized', moves: 'replace', reserves: false, reduceOnly: true },
    credentialsVersion: 1,
    resolve: async () =>
      desk.isGone
        ? { rejection: { code: 'invalid_symbol', message: 'It is not found.' } }
        : { ...INSTRUMENT, open: !desk.isSuspended, nextOpen: null },
    async position() {
      if (desk.isAway) throw new BrokerUnavailable('nobody answers');
      const { held } = desk;
      await desk.onPosition();
      return held;
    },
    positions: async () =>
      desk.held === '0'
        ? []
        : [
            {
              ...{ quantity: desk.held, averagePrice: decimal(100) },
              ...(desk.isRenamed
                ? { symbol: 'BTC_USDT', tradable: false }
                : { symbol: 'BTCUSDT', tradable: true }),
            },
          ],
    openOrders: async () => [],
    quote: async () => ({ bid: decimal(100), ask: decimal(100) }),
    stops: {
      async place({ clientOrderId, side, price, quantity }: StopOrder) {
        if (desk.refusesStops) return { outcome: 'rejected', why: 'refused', words: 'It is not tradable.' };
        stops = [...stops, { clientOrderId, brokerRef: clientOrderId, side, price, quantity }];
        desk.onPlaced();
        return { outcome: 'accepted', clientOrderId, brokerRef: clientOrderId };
      },
      async remove(sent: { readonly clientOrderId: string }) {
        stops = stops.filter(({ clientOrderId }) => clientOrderId !== sent.clientOrderId);
      },
      standing: async () => stops,
      find: async (sent: { readonly clientOrderId: string; readonly brokerRef: string }) => ({
        brokerRef: sent.brokerRef,
        status: stops.some((stop) => stop.clientOrderId === sent.clientOrderId) ? 'standing' : 'ended',
        order: null,
        reason: null,
      }),
    },
  } as unknown as Line;

  const deps = {
    clock: { now: () => now },
    wait: (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms)),
    rules: { protectMs: 10_000, sweepMs: 30_000, followMs: 2_000, lostMs: 2_000, giveUpMs: 30_000 },
    protections: {
      kept: async () => (wanted.state === 'ended' ? [] : [wanted]),
      save,
      record: save,
      async close(protection: Protection) {
        desk.closes.push(desk.at());
        desk.held = decimal(0);
        return save({ ...protection, closing: { order: 'c' as OrderId, at: timestamp(now) } });
      },
      orders: async () => [],
      recorded: async () => [],
      putOff: async () => desk.onWait(),
    },
    orders: {
      unsettled: async () => ({ orders: [] }),
      async findAccount() {
        desk.looks.push(desk.at());
        return {
          ...{ id: ACCOUNT, brokerName: 'paper', environment: 'live', credentialsVersion: 1 },
          ...{ credentialsVerified: true, connectionVersion: 1, triggerBy: 'last', unprotected: 'close' },
        };
      },
    },
    connections: { use: (_: unknown, does: (line: Line) => unknown) => does(line) },
    books: {
      upToDate: async () => ({
        expected: () => null,
        closed() {},
        explained() {},
        standing: (_: string, quantity: Decimal) => ({ quantity, counted: undefined }),
      }),
    },
    sweeps: {
      queue(_venue: unknown, _kind: unknown, begin: () => void) {
        desk.come = begin;
        return desk.isBusy ? { leave() {} } : null;
      },
      run: (_venue: unknown, _kind: unknown, keep: () => unknown) => keep(),
    },
    prices: { get: (_: unknown, ask: () => unknown) => ask() },
    token: 't',
    mine: (_: Protection, saved: Protection) => saved,
    trading: (account: AccountId, does: Parameters<ProtectingDeps['trading']>[1]) => lanes.run(account, does),
    workOff: async () => {},
    forget() {},
    hold() {},
    makeRoom: async () => 'none',
    log: { warn() {}, error: ({ fault }: { readonly fault: unknown }) => t.diagnostic(String(fault)) },
  } as unknown as ProtectingDeps;

  const protecting = createProtecting(deps, 'u' as UserId);
  t.after(() => protecting.close());
  return desk;
}

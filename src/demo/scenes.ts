// The scenes. Each is a few requests that anybody could send; what becomes of them is the service's own doing.

import { randomBytes } from 'node:crypto';
import { type AccountName, withSession } from './desk.ts';
import { act, deliver, plain, type Scene, type Stage, signal } from './stage.ts';

const entry = (stage: Stage, symbol: string, quantity: number) =>
  plain(stage, { action: 'buy', symbol, quantity });

/** One of the strategies looks at its chart. */
export const strategyActs =
  (lookbackMs: number): Scene =>
  async (stage) => {
    const { account, strategy } = stage.chance.pick(stage.cast.players);
    return signal(stage, account, strategy.decide(stage.now(), lookbackMs));
  };

/** An alert gets lost between two that arrive: the second one shows it. */
export const alertGetsLost: Scene = async (stage) => {
  const [{ account, strategy }] = stage.cast.players;
  strategy.moveTo(3, stage.now());
  return signal(stage, account, strategy.moveTo(1, stage.now()));
};

// Attackers

const wrongSecret: Scene = (stage) =>
  deliver(stage, 'crypto', { ...entry(stage, 'BTCUSDT.P', 5), secret: 'letmein' }, 'attacker');

/** Somebody who saw a message pass, and sends it once more. */
const replay: Scene = async (stage) => {
  const { account, strategy } = stage.chance.pick(stage.cast.players);
  const { message } = await signal(stage, account, strategy.sync(stage.now()));
  return deliver(stage, account, message, 'attacker');
};

const TEN_MINUTES_MS = 600_000;

const staleSignal: Scene = (stage) => {
  const timestamp = new Date(stage.now() - TEN_MINUTES_MS).toISOString();
  return deliver(stage, 'futures', { ...entry(stage, 'NQ1!', 1), timestamp, secret: 'guessed' }, 'attacker');
};

const unknownWebhook: Scene = ({ client }) =>
  client.send({
    ...{ method: 'POST', path: '/webhook/0000000000000000000000/order', as: 'attacker' },
    body: { action: 'buy', symbol: 'BTCUSDT', quantity: 1 },
  });

export const ATTACKS: readonly [Scene, ...Scene[]] = [wrongSecret, replay, staleSignal, unknownWebhook];

/** A few only: ten within a quarter of an hour would lock the visitor out. */
export const guessedPassword: Scene = ({ client, desk: { login } }) =>
  client.send({
    ...{ method: 'POST', path: '/auth/login', as: 'attacker' },
    body: { email: login.email, password: 'correct horse' },
  });

/** Somebody else, of whom an administrator sees that there is one; nobody knows the password. */
export const strangerRegisters: Scene = ({ client }) =>
  client.send({
    ...{ method: 'POST', path: '/auth/register', as: 'attacker' },
    body: {
      email: 'demo-guest@fillpath.local',
      password: randomBytes(12).toString('base64url'),
      accept_terms: true,
    },
  });

/** While only another address may send signals. */
export const blockedAddress: Scene = (stage) =>
  withSession(stage.client, stage.desk.login, async (session) => {
    const listed = { ip_address: '192.0.2.10', label: 'demo: an address for documentation' };
    const { id } = await session.send({ method: 'POST', path: '/settings/allowed-ips', body: listed });
    await deliver(stage, 'crypto', entry(stage, 'BTCUSDT.P', 1), 'attacker');
    await session.send({ method: 'DELETE', path: `/settings/allowed-ips/${id}` });
  });

/** A page of somebody else's that has a session change something. */
export const forgedRequest: Scene = ({ client, desk: { login } }) =>
  withSession(client, login, (session) =>
    session.sendUnproven({ method: 'POST', path: '/settings/api-keys', body: { name: 'forged' } }),
  );

// Alerts that were not meant so

const notJson: Scene = (stage) => deliver(stage, 'crypto', 'BTC crossed its moving average', 'strategy');

const unfilledPlaceholder: Scene = (stage) => {
  const alert = { ...entry(stage, 'ETHUSDT.P', 1), price: '{{close}}' };
  const { secret } = stage.desk.accounts.crypto;
  return deliver(stage, 'crypto', { ...alert, secret }, 'strategy');
};

const stopLossAsked: Scene = async (stage) =>
  signal(stage, 'crypto', plain(stage, { action: 'buy', symbol: 'ETHUSDT.P', quantity: 1, sl: 3100 }));

const unknownSymbol: Scene = async (stage) => signal(stage, 'crypto', entry(stage, 'BTCUSTD', 0.1));

const tooLittleMargin: Scene = async (stage) => signal(stage, 'crypto', entry(stage, 'DOGEUSDT.P', 5e7));

const TWO_MINUTES_MS = 120_000;

/** An alert that was overtaken by a later one. */
const superseded: Scene = async (stage) => {
  const [{ account, strategy }] = stage.cast.players;
  await signal(stage, account, strategy.sync(stage.now()));
  const late = strategy.sync(stage.now() - TWO_MINUTES_MS);
  return signal(stage, account, { ...late, action: 'sell', quantity: 0.1 });
};

export const MISTAKES: readonly [Scene, ...Scene[]] = [
  notJson,
  unfilledPlaceholder,
  stopLossAsked,
  unknownSymbol,
  tooLittleMargin,
  superseded,
];

// What a user does by hand

const order = (stage: Stage, account: AccountName, body: Readonly<Record<string, unknown>>) =>
  act(stage, {
    ...{ method: 'POST', path: '/trading/order' },
    body: { trading_account_id: stage.desk.accounts[account].id, ...body },
  });

export const heldBackByGuard: Scene = (stage) =>
  order(stage, 'futures', { action: 'buy', symbol: 'ES1!', quantity: 5 });

export const tradeByHand: Scene = async (stage) => {
  await order(stage, 'crypto', { action: 'buy', symbol: 'LINKUSDT', quantity: 40 });
  return order(stage, 'crypto', { action: 'close', symbol: 'LINKUSDT' });
};

export const shares: Scene = (stage) =>
  order(stage, 'shares', { action: stage.chance.pick(['buy', 'sell']), symbol: 'AAPL', quantity: 20 });

/** One signal for three accounts, for money, each with its factor: what one of them refuses, the others trade. */
export const toGroup: Scene = async (stage) => {
  const { token, secret } = stage.desk.group;
  for (const alert of [
    { ...entry(stage, 'SOLUSDT.P', 3_000), quantity_type: 'cash' },
    plain(stage, { action: 'close', symbol: 'SOLUSDT.P' }),
  ]) {
    await stage.pace.turn();
    await stage.client.send({
      ...{ method: 'POST', path: `/webhook/${token}/order`, as: 'strategy' },
      body: { ...alert, secret },
    });
  }
};

/** Needs no secret: nothing is traded in earnest. */
export const rehearsal: Scene = (stage) => {
  const action = stage.chance.pick(['buy', 'sell']);
  return deliver(
    stage,
    'crypto',
    { action, symbol: 'SOLUSDT.P', quantity: 10 },
    'strategy',
    '?simulation=true',
  );
};

/** The position is no longer the strategy's, and stays so until somebody aligns it. */
export const drift: Scene = async (stage) => {
  const { account, strategy } = stage.cast.meddled;
  await signal(stage, account, strategy.moveTo(2, stage.now()));
  await order(stage, account, { action: 'sell', symbol: 'MES1!', quantity: 1, order_type: 'exit' });
  return signal(stage, account, strategy.sync(stage.now()));
};

const halt = (stage: Stage, account: AccountName, flatten: boolean) =>
  act(stage, {
    ...{ method: 'POST', path: `/trading/accounts/${stage.desk.accounts[account].id}/halt` },
    body: { flatten },
  });

/** The kill switch, and what arrives after it. */
export const haltedAccount: Scene = async (stage) => {
  await signal(stage, 'halted', entry(stage, 'BNBUSDT.P', 3));
  await halt(stage, 'halted', true);
  return signal(stage, 'halted', entry(stage, 'ADAUSDT.P', 500));
};

export const haltAndResume: Scene = async (stage) => {
  await halt(stage, 'futures', false);
  await signal(stage, 'futures', entry(stage, 'CL1!', 1));
  const path = `/trading/accounts/${stage.desk.accounts.futures.id}/resume`;
  return act(stage, { method: 'POST', path });
};

// A broker's bad days, rehearsed by the paper account's own settings

const changed = (stage: Stage, account: AccountName, body: object) =>
  act(stage, { method: 'PATCH', path: `/trading/accounts/${stage.desk.accounts[account].id}`, body });

const badDay =
  (symbol: string, paper: object, protection: object = {}): Scene =>
  async (stage) => {
    const kind = { fill: 'full', reject: null, lose_answer: false, protection: 'native', ...paper };
    await changed(stage, 'badDays', { paper: kind });
    return signal(stage, 'badDays', { ...entry(stage, symbol, 4), ...protection });
  };

/**
 * The last but one is held without its stop, and told of; the last one is never filled: fill verification asks, asks again, and
 * gives it to the dead letters. Both stay so until the next bad day.
 */
export const BAD_DAYS: readonly [Scene, ...Scene[]] = [
  badDay('SOLUSDT.P', { reject: 'insufficient_margin' }),
  badDay('AVAXUSDT.P', { lose_answer: true }),
  badDay('LTCUSDT.P', { fill: 'partial' }),
  badDay('BNBUSDT.P', { fill: 'cancel' }),
  badDay('SOLUSDT.P', { fill: 'fail' }),
  badDay('ADAUSDT.P', { protection: 'refuse' }, { stop_loss: '3%' }),
  badDay('LINKUSDT.P', { fill: 'never', lose_answer: true, protection: 'refuse' }),
];

/** Nobody trades shares any more, and that is to be told. */
export const silence: Scene = (stage) => changed(stage, 'shares', { silence_after: 60 });

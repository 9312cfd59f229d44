// What every scene of the demo plays on.

import type { Chance } from './chance.ts';
import type { Answer, Client, Part, Request } from './client.ts';
import type { AccountName, Desk } from './desk.ts';
import type { Market } from './market.ts';
import type { Pace } from './pace.ts';
import type { Alert, Chart, Strategy } from './strategy.ts';

export interface Stage {
  readonly client: Client;
  readonly desk: Desk;
  readonly pace: Pace;
  readonly chance: Chance;
  readonly chart: Chart;
  readonly cast: Cast;
  /** By the service's clock. */
  now(): number;
}

/** The strategies know where they stand: they outlive a start of the service. */
export interface Cast {
  readonly players: readonly [Player, ...Player[]];
  /** The micro future's: its position is meddled with by hand. */
  readonly meddled: Player;
  /** Where positions are protected. */
  readonly market: Market;
}

export interface Player {
  readonly account: AccountName;
  readonly strategy: Strategy;
}

export type Scene = (stage: Stage) => Promise<unknown>;

/** An alert that is made now. */
export const plain = (stage: Stage, alert: Alert): Alert => ({
  ...alert,
  timestamp: new Date(stage.now()).toISOString(),
});

/** A genuine signal, as it was sent. */
export async function signal(
  stage: Stage,
  account: AccountName,
  alert: Alert,
): Promise<{ readonly message: string }> {
  await stage.pace.turn();
  const message = JSON.stringify({ ...alert, secret: stage.desk.accounts[account].secret });
  await deliver(stage, account, message, 'strategy');
  return { message };
}

/** Whatever it is. */
export const deliver = (
  { client, desk }: Stage,
  account: AccountName,
  body: object | string,
  as: Part,
  query = '',
): Promise<Answer> =>
  client.send({ method: 'POST', path: `/webhook/${desk.accounts[account].token}/order${query}`, body, as });

/** What the user does by the API, or would do on a page. */
export async function act(
  { client, desk, pace }: Stage,
  request: Pick<Request, 'method' | 'path' | 'body'>,
): Promise<Answer> {
  await pace.turn();
  return client.send({ ...request, headers: { authorization: `Bearer ${desk.apiKey}` }, as: 'owner' });
}

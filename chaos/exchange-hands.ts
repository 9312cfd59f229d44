// What an account's owner does with stops on the exchange's own pages, and we are not told of.

import { findListing } from '../src/broker/paper/market.ts';
import { type Decimal, decimal, downTo, multiply, sign } from '../src/domain/decimal.ts';
import type { AccountId } from '../src/domain/ids.ts';
import * as told from './exchange-control.ts';
import type { Desk } from './exchange-desk.ts';
import type { Answer, AskedStop, Dialect, SeenStop } from './exchange-dialect.ts';
import type { openOffice } from './exchange-office.ts';
import { ok, problem } from './exchange-protocol.ts';

/** By whom it was asked for, in the journal. */
export const BY_HAND = 'by hand';

type Counter = Pick<ReturnType<typeof openOffice>, 'office' | 'stopArrivalOf' | 'takeStop'>;

export function openHands(desk: Desk, counter: Counter, { markets }: Pick<Dialect, 'markets'>) {
  const standing = async (account: AccountId): Promise<readonly SeenStop[]> =>
    (await counter.office.stops(account)).filter(({ status }) => status === 'standing');

  async function take(account: AccountId, stop: AskedStop & { readonly moves?: string }): Promise<Answer> {
    const from = { account, asker: BY_HAND, arrivedAt: Date.now() };
    const { taken } = await counter.takeStop(await counter.stopArrivalOf(from, stop), stop);
    return taken.outcome === 'accepted' ? ok({ ref: taken.stop.ref }) : problem(422, taken.message);
  }

  const tickOf = (symbol: string): Decimal =>
    markets?.find((each) => each.symbol === symbol)?.tick ?? findListing(symbol)?.tickSize ?? decimal(1);

  /** Away from where it stands, up or down, on the tick. */
  async function move(account: AccountId, ref: string, percent: number): Promise<Answer> {
    const stop = (await standing(account)).find((each) => each.ref === ref);
    if (!stop) return problem(404, 'No such stop stands there.');
    const price = downTo(multiply(stop.price, decimal((1 + percent / 100).toFixed(6))), tickOf(stop.symbol));
    if (sign(price) <= 0) return problem(422, 'There is no such price.');
    const { clientOrderId, symbol, side, quantity, triggerBy } = stop;
    return take(account, { clientOrderId, symbol, side, quantity, price, triggerBy, moves: ref });
  }

  /** `ref`: which stop; without one, all. */
  async function answer(what: string, account: AccountId, ref: string | undefined, body: unknown) {
    switch (what) {
      case 'GET stops':
        return ok({
          items: (await standing(account)).map(({ ref, symbol, side }) => ({ ref, symbol, side })),
        });
      case 'POST stops':
        return take(account, told.readStopByHand(body));
      case 'PATCH stops':
        return move(account, ref ?? '', told.readMoveByHand(body));
      case 'DELETE stops':
        return ok({ removed: await remove(account, ref) });
      default:
        return null;
    }
  }

  async function remove(account: AccountId, ref: string | undefined): Promise<number> {
    if (ref === undefined) return desk.stops.removeAll(account);
    return (await counter.office.removeStop(account, ref)) ? 1 : 0;
  }

  return (what: string, account: AccountId, ref: string | undefined, body: unknown): Promise<Answer | null> =>
    desk.by(BY_HAND, () => answer(what, account, ref, body));
}

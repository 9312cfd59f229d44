// The runner's line to the exchange's control room.

import type { Timestamp } from '../src/domain/ids.ts';
import type { FaultOrder } from './exchange-faults.ts';
import type { Traits } from './exchange-traits.ts';
import type { TrapOrder } from './exchange-traps.ts';

interface ExchangeOrder {
  readonly account: string;
  readonly client_order_id: string;
  readonly broker_ref: string;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: string;
  /** null: at the market. */
  readonly limit_price: string | null;
  readonly status: string;
  readonly fill_quantity: string;
  readonly fill_price: string | null;
  /** Why it ended. */
  readonly reason: string | null;
  readonly accepted_at: Timestamp;
  /** Of its last change: where it has ended, of its end. */
  readonly updated_at: Timestamp;
}

interface ExchangeRequest {
  readonly seq: number;
  readonly arrived_at: number;
  readonly account: string;
  readonly client_order_id: string;
  readonly asker: string | null;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly limit_price: string | null;
  /** It was to wait until this price is there. */
  readonly trigger_price: string | null;
  readonly time_in_force: string | null;
  readonly send_before: string;
  readonly outcome: 'accepted' | 'duplicate' | 'rejected' | 'late' | 'not_taken';
  /** Why it was refused. */
  readonly code: string | null;
}

/** All that was filled of an order by then, and at which price. */
interface ExchangeFill {
  readonly seq: number;
  readonly at: number;
  readonly account: string;
  readonly client_order_id: string;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly fill_quantity: string;
  readonly fill_price: string;
}

/** Something that happened to a stop. */
interface ExchangeStop {
  readonly seq: number;
  /** By the exchange's prices; it may have been noticed later, `noted_at`. */
  readonly at: number;
  readonly noted_at: number;
  readonly account: string;
  readonly client_order_id: string;
  readonly broker_ref: string;
  readonly what: 'placed' | 'moved' | 'triggered' | 'cancelled' | 'expired' | 'rejected';
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  /** null: all that is held when it triggers. */
  readonly quantity: string | null;
  readonly price: string;
  readonly trigger_by: 'last' | 'mark';
  /** What it became, among the orders, by the client's id there. */
  readonly order_id: string | null;
  readonly reason: string | null;
  /** Who asked for something just then; null: nobody did, or nobody with a name. */
  readonly asker: string | null;
}

interface StopRequest {
  readonly seq: number;
  readonly arrived_at: number;
  readonly account: string;
  readonly client_order_id: string;
  readonly asker: string | null;
  /** The id of the one that was to be moved. */
  readonly moves: string | null;
  readonly price: string;
  readonly outcome: 'accepted' | 'duplicate' | 'rejected' | 'not_taken';
  readonly code: string | null;
}

export interface ExchangeLedger {
  /** In the order of their acceptance. */
  readonly orders: readonly ExchangeOrder[];
  readonly positions: readonly {
    readonly account: string;
    readonly symbol: string;
    readonly quantity: string;
  }[];
  readonly requests: readonly ExchangeRequest[];
  /** In the order in which it happened. An order that was filled no further may be told of again. */
  readonly fills: readonly ExchangeFill[];
  /** In the order in which it happened. */
  readonly stops: readonly ExchangeStop[];
  readonly stop_requests: readonly StopRequest[];
  /** When who was told of an account's positions, and how old they were. */
  readonly looks: readonly {
    readonly at: number;
    readonly account: string;
    readonly asker: string | null;
    readonly lag_ms: number;
  }[];
  /** What an account held from then on, by symbol, in the order of the changes. */
  readonly held: readonly {
    readonly at: number;
    readonly account: string;
    readonly quantities: Readonly<Record<string, string>>;
  }[];
  /** When it refused whose credentials, though they are right. */
  readonly denials: readonly { readonly at: number; readonly account: string }[];
  /** When it said that it has no order under that id, and whether it had forgotten it. */
  readonly not_found: readonly {
    readonly at: number;
    readonly account: string;
    readonly client_order_id: string;
    readonly forgotten: boolean;
  }[];
}

/** Only what differs from the broker's. */
function told({ manners = {}, able = {} }: Traits): object {
  const { secondStop, endsWithPosition, stopsNeedPosition, reserves } = manners;
  return {
    ...(secondStop !== undefined && { second_stop: secondStop }),
    ...(endsWithPosition !== undefined && { ends_with_position: endsWithPosition }),
    ...(stopsNeedPosition !== undefined && { stops_need_position: stopsNeedPosition }),
    ...(reserves !== undefined && { reserves }),
    ...able,
  };
}

export function exchangeControl(url: string) {
  async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${url}/control/${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(
        `the exchange answered ${method} ${path} with ${response.status}: ${await response.text()}`,
      );
    return (await response.json()) as Answer;
  }
  return {
    register: (account: string, traits: Traits, terms: object) =>
      call('POST', `accounts/${account}`, {
        ...terms,
        refuses_duplicates: traits.refusesDuplicates,
        reduce_only: traits.reduceOnly,
        fills_after_ms: traits.fillsAfterMs,
        forgets_ids_after_ms: traits.forgetsIdsAfterMs,
        limits: traits.limits,
        ...told(traits),
      }),
    setBook: (account: string, paper: object) => call('PATCH', `accounts/${account}`, { paper }),
    /** By the engine's listings; null: it goes its own way again. */
    setPrices: (prices: Readonly<Record<string, number | null>>) => call('POST', 'prices', prices),
    /** What stands there, as an account's owner sees it. */
    stops: async (account: string) =>
      (
        await call<{ items: { ref: string; symbol: string; side: 'buy' | 'sell' }[] }>(
          'GET',
          `stops/${account}`,
        )
      ).items,
    /** null: it had gone by then, or the exchange does not let it stand there. */
    moveStop: (account: string, ref: string, percent: number) =>
      call('PATCH', `stops/${account}/${encodeURIComponent(ref)}`, { percent }).catch(() => null),
    removeStop: (account: string, ref: string) =>
      call<{ removed: number }>('DELETE', `stops/${account}/${encodeURIComponent(ref)}`),
    addFault: (fault: FaultOrder) => call('POST', 'faults', fault),
    clearFaults: () => call('DELETE', 'faults'),
    trap: (trap: TrapOrder) =>
      call<{ id: number; account?: string; caught?: unknown; client_order_id?: string | null }>(
        'POST',
        'traps',
        trap,
      ),
    release: (id: number) => call('POST', `traps/${id}/release`).catch(() => undefined),
    ledger: () => call<ExchangeLedger>('GET', 'ledger'),
  };
}

export type ExchangeControl = ReturnType<typeof exchangeControl>;

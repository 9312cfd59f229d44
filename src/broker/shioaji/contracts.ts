// What can be traded through Shioaji, by the platform's symbols: futures of TAIFEX by their months, and shares by lots of a
// thousand. A continuous month is resolved to the month that it stands for, and an order is for that one: so a close hits the
// month that was opened, whatever the continuous one stands for by then.

import { decimal } from '../../domain/decimal.ts';
import { type InstrumentSearch, searchInstruments } from '../../domain/instrument-search.ts';
import { didYouMean, nearest } from '../../domain/nearest.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import { type PlatformSymbol, readSymbol } from '../../domain/signals/symbol.ts';
import { BrokerUnavailable, type Instrument } from '../broker.ts';
import type { Shared } from '../shared.ts';
import {
  CONTRACT,
  type Contract,
  isContinuous,
  type ListedContract,
  type Month,
  type OddMonth,
} from './answers.ts';
import { type Api, unanswered } from './api.ts';
import { isOpen, type Market, nextOpen } from './hours.ts';
import { askForMany } from './long-answers.ts';

export interface Lists {
  readonly contracts: Shared<readonly ListedContract[]>;
  readonly months: Shared<readonly (Month | OddMonth)[]>;
}

type Named = Pick<Contract, 'security_type' | 'code' | 'name'>;

/** What is sent with an order, and what the user sees of it. */
export interface Listed {
  readonly contract: Contract;
  readonly instrument: Instrument;
}

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
/** A month's terms may change: who asks for them later has them read anew meanwhile. */
const YOUNG_MS = 10 * MINUTE_MS;

/** Futures have letters in front, shares digits. */
export const marketOf = (code: string): Market => (/^\d/.test(code) ? 'stocks' : 'futures');

const EXCHANGES: Readonly<Record<Market, ReadonlySet<string>>> = {
  futures: new Set(['TAIFEX']),
  stocks: new Set(['TWSE', 'TSE', 'TPEX', 'OTC']),
};

const isMonth = ({ security_type, code }: Named): boolean => security_type === 'FUT' && !isContinuous(code);
const rootOf = (code: string): string => code.slice(0, -2);

/** As the platform spells a month: with the letter that the world has for it, and the year. SinoPac's letters are others. */
const PLATFORM_MONTH = /^(?<root>[A-Z][A-Z0-9]{2})(?<letter>[FGHJKMNQUVXZ])(?<year>20\d\d)$/;
const LETTERS = 'FGHJKMNQUVXZ';

export function openContracts(api: Api, lists: Lists, now: () => number) {
  const at = (what: string) => `${api.address} ${what}`;

  const monthsOf = (
    root: string,
    maxAgeMs: number,
    signal: AbortSignal,
  ): Promise<readonly (Month | OddMonth)[]> =>
    lists.months.get(
      at(root),
      (own) => {
        const path = `data/contracts/futures?root=${encodeURIComponent(root)}`;
        return askForMany(api, 'shioajiMonths', { signal: own, path });
      },
      { signal, maxAgeMs, renewMs: YOUNG_MS },
    );

  const all = (
    type: 'FUT' | 'STK',
    maxAgeMs: number,
    signal: AbortSignal,
  ): Promise<readonly ListedContract[]> =>
    lists.contracts.get(
      at(type),
      (own) => {
        const path = `data/contracts?security_type=${type}`;
        return askForMany(api, 'shioajiContracts', { signal: own, path });
      },
      { signal, maxAgeMs },
    );

  /** null: the server's own word that there is none. */
  async function contractOf(code: string, signal: AbortSignal): Promise<Contract | null> {
    const answer = await api.ask(signal, `data/contracts/${encodeURIComponent(code)}`);
    if (answer.kind === 'fault' && answer.status === 404) return null;
    if (answer.kind !== 'answer' || !CONTRACT.Check(answer.body) || answer.body.code !== code)
      throw unanswered(answer);
    return answer.body;
  }

  /** The month's own terms; a new one may have been listed since the list was read. */
  async function monthOf(code: string, signal: AbortSignal): Promise<Month | undefined> {
    const among = (months: readonly (Month | OddMonth)[]) => months.find((month) => month.code === code);
    const root = rootOf(code);
    const known = among(await monthsOf(root, DAY_MS, signal));
    const month = known && !isOdd(known) ? known : among(await monthsOf(root, MINUTE_MS, signal));
    if (month && isOdd(month)) throw unreadable(code);
    return month;
  }

  async function instrumentOf(contract: Named, signal: AbortSignal): Promise<Instrument | null> {
    if (contract.security_type === 'STK') return lotsOf(contract, now());
    if (!isMonth(contract)) return null;
    const month = await monthOf(contract.code, signal);
    return month ? monthly(contract, month, now()) : null;
  }

  async function listed(contract: Contract, signal: AbortSignal): Promise<Listed | null> {
    const instrument = await instrumentOf(contract, signal);
    return instrument && { contract, instrument };
  }

  /** The broker's own code for it, where it has one. */
  async function codeOf({ ticker, market }: PlatformSymbol, signal: AbortSignal): Promise<string | null> {
    if (market.kind === 'perpetual') return null;
    if (market.kind === 'continuous') return targetOf(`${ticker}R${market.month}`, signal);
    if (isContinuous(ticker) && marketOf(ticker) === 'futures') return targetOf(ticker, signal);
    const { root, letter = '', year } = PLATFORM_MONTH.exec(ticker)?.groups ?? {};
    if (root === undefined) return ticker;
    const month = `${year}${String(LETTERS.indexOf(letter) + 1).padStart(2, '0')}`;
    const months = await monthsOf(root, DAY_MS, signal);
    const odd = months.find(isOdd);
    const found = months.find(
      (each) => !isOdd(each) && each.delivery_month === month && !isContinuous(each.code),
    );
    if (!found && odd) throw unreadable(odd.code);
    return found?.code ?? null;
  }

  /** Asked every time: it changes on the day of settlement. */
  const targetOf = async (code: string, signal: AbortSignal): Promise<string | null> =>
    (await contractOf(code, signal))?.target_code || null;

  /** As an alert may spell it: the front month rather than SinoPac's name for it. */
  async function nearTo({ ticker, market }: PlatformSymbol, signal: AbortSignal): Promise<readonly string[]> {
    const wanted = market.kind === 'continuous' ? `${ticker}${market.month}!` : ticker;
    const names = (await all(marketOf(ticker) === 'stocks' ? 'STK' : 'FUT', DAY_MS, signal)).map(
      ({ code }) => (isContinuous(code) ? `${rootOf(code)}${code.slice(-1)}!` : code),
    );
    return nearest(wanted, names);
  }

  /** What an order or a quote needs of it. null: it is not traded. */
  async function traded(code: string, signal: AbortSignal): Promise<Contract | null> {
    const contract = await contractOf(code, signal);
    return contract && (contract.security_type === 'STK' || isMonth(contract)) ? contract : null;
  }

  async function find(code: string, signal: AbortSignal): Promise<Listed | null> {
    const contract = await contractOf(code, signal);
    return contract && listed(contract, signal);
  }

  return {
    traded,

    async resolve(symbol: string, signal: AbortSignal): Promise<Listed | { readonly rejection: OrderError }> {
      const asked = readSymbol(symbol);
      const isOurs = asked.exchange === null || EXCHANGES[marketOf(asked.ticker)].has(asked.exchange);
      const isNameable = /^[A-Z0-9]{1,16}$/.test(asked.ticker);
      const code = isOurs && isNameable ? await codeOf(asked, signal) : null;
      const found = code === null ? null : await find(code, signal);
      if (found) return found;
      return { rejection: unlisted(symbol, isOurs && isNameable ? await nearTo(asked, signal) : []) };
    },

    /** In the order of their codes. Terms are read for those that are shown. */
    async search(wanted: InstrumentSearch, signal: AbortSignal): Promise<Instrument[]> {
      const lists = [await all('FUT', DAY_MS, signal), await all('STK', DAY_MS, signal)];
      const listed = lists
        .flat()
        .filter((contract) => contract.security_type === 'STK' || isMonth(contract))
        .map((contract) => ({ contract, symbol: contract.code, description: contract.name ?? '' }))
        .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1));
      const page = searchInstruments(listed, wanted);
      const found = await Promise.all(page.map(({ contract }) => instrumentOf(contract, signal)));
      return found.filter((instrument) => instrument !== null);
    },
  };
}

const isOdd = (month: Month | OddMonth): month is OddMonth => 'isOdd' in month;

const unreadable = (code: string): BrokerUnavailable =>
  new BrokerUnavailable(`SinoPac lists ${code}, and not in a way that could be read.`);

const unlisted = (symbol: string, near: readonly string[]): OrderError => ({
  code: 'invalid_symbol',
  message:
    `The symbol ${symbol} is not found in the broker contracts of SinoPac, which are futures such as TXF1! and shares such ` +
    `as 2330.${didYouMean(near)}`,
});

const ONE = decimal(1);

const terms = (market: Market, now: number) => {
  const open = isOpen(market, now);
  return { quantityStep: ONE, minQuantity: ONE, open, nextOpen: open ? null : nextOpen(market, now) };
};

const monthly = ({ code, name }: Named, month: Month, now: number): Instrument => ({
  symbol: code,
  description: month.name ?? name ?? code,
  contractSize: decimal(month.multiplier),
  tickSize: decimal(month.tick ?? 1),
  ...terms('futures', now),
});

const lotsOf = ({ code, name }: Named, now: number): Instrument => ({
  symbol: code,
  description: name ?? code,
  contractSize: decimal(1000),
  // The least there is: it depends on the price.
  tickSize: decimal('0.01'),
  ...terms('stocks', now),
});

// The stop and the targets of a position, each with its distance from the last price and its money.

import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { instrumentOf } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { brokers, protection as protectionOf } from '../../api/queries.ts';
import { figure } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import {
  moneyIn,
  percentFrom,
  plainMoney,
  shareInWords,
  wonAt,
  worthOf,
} from '../../parts/protection/money.ts';
import { isBare, isFilled, type Protection, type Target } from '../../parts/protection/shapes.ts';
import { followsInWords, keptInWords, STATES, spanInWords } from '../../parts/protection/words.ts';
import { useNow } from '../../parts/when.tsx';
import type { Book } from './books.ts';
import styles from './positions.module.css';

interface CellProps {
  readonly book: Book;
  readonly position: Schemas['Position'];
}

/** A simulated book keeps stops at every broker. */
export function useKeepsStops(broker: string, simulation: boolean): boolean {
  const { data } = useQuery(brokers);
  return simulation || data?.items.find(({ name }) => name === broker)?.capabilities.stop !== 'none';
}

export function StopCell({ book, position }: CellProps) {
  const { account, simulation } = book;
  const { protection } = position;
  const keepsStops = useKeepsStops(account.broker, simulation);
  if (!keepsStops)
    return (
      <>
        <span className="quiet">{account.broker} keeps none</span>
        {protection && <Follows protection={protection} />}
      </>
    );
  if (!protection || (protection.stop_loss === null && !isBare(protection)))
    return (
      <>
        <span className="quiet">none asked for</span>
        <HeldBare book={book} position={position} />
        {protection && <Follows protection={protection} />}
      </>
    );
  return <Stop book={book} position={position} protection={protection} />;
}

function Stop({ book, position, protection }: CellProps & { readonly protection: Protection }) {
  const { state, stop_loss: stop, unprotected_since: since } = protection;
  const risk = position.risk;
  const won = risk === null ? null : moneyIn(-risk || 0, book.currency);
  if (isBare(protection))
    return (
      <>
        <span className="status risk">
          <Mark name="risk" />
          <b>{since ? <NoneFor since={since} /> : 'unprotected'}</b>
        </span>
        {stop !== null && (
          <small>
            wanted {figure(stop)}
            {won && `, ${won}`}
          </small>
        )}
      </>
    );
  const far = stop === null ? null : percentFrom(stop, position.last_price);
  const isSure = state === 'standing';
  return (
    <>
      <span className={isSure ? undefined : state === 'unwatched' || state === 'left' ? 'act' : 'quiet'}>
        <Mark name={isSure ? 'stands' : 'armed'} className={styles.foot ?? ''} />
        {stop !== null && figure(stop)}
      </span>
      <Parts of={[far, won]} />
      {isSure ? (
        <Kept protection={protection} isEven={risk === 0 && protection.break_even === null} />
      ) : (
        <small
          title={STATES[state]}
          className={state === 'unwatched' || state === 'left' ? 'act' : undefined}
        >
          {SHORT[state]}
        </small>
      )}
    </>
  );
}

/** One line; the whole is on hover, and in the row below where somebody has to do something. */
const SHORT: Readonly<Record<Protection['state'], string>> = {
  armed: 'armed: not yet seen at the broker',
  standing: '',
  suspended: 'suspended while an order is made',
  unprotected: '',
  unwatched: 'unwatched: nobody can look',
  left: 'left: nobody looks after it',
  ended: 'ended',
};

/** In a line, or more: a figure and its unit stay together. */
function Parts({ of }: { readonly of: readonly (string | null)[] }) {
  const parts = of.filter((part) => part !== null);
  return (
    <small>
      {parts.map((part, index) => (
        <Fragment key={part}>
          <span className={styles.part}>{index < parts.length - 1 ? `${part},` : part}</span>{' '}
        </Fragment>
      ))}
    </small>
  );
}

const NoneFor = ({ since }: { readonly since: string }) =>
  `none for ${spanInWords(useNow() - Date.parse(since))}`;

const Follows = ({ protection }: { readonly protection: Protection }) =>
  followsInWords(protection, new Date(serverNow())).map((words) => <small key={words}>{words}</small>);

/** What it does by itself, and what was last done to it so. Read again once the stop is another. */
function Kept({ protection, isEven }: { readonly protection: Protection; readonly isEven: boolean }) {
  const { id, stop_loss, state } = protection;
  const { data } = useQuery(protectionOf(id, `${state} ${stop_loss}`));
  return keptInWords(protection, { isEven, history: data?.history ?? [], now: new Date(serverNow()) }).map(
    (words) => <small key={words}>{words}</small>,
  );
}

/** What is held without any stop. */
function HeldBare({ book, position }: CellProps) {
  const { data: instrument } = useQuery(instrumentOf(book.account.id, position.symbol));
  const worth = worthOf(position, instrument?.contract_size ?? null);
  return worth === null ? null : (
    <small>
      {plainMoney(worth)} {book.currency} held
    </small>
  );
}

export function TargetCell({ book, position }: CellProps) {
  const { account, currency } = book;
  const { symbol, quantity, average_price: average, last_price: last } = position;
  const { data: instrument } = useQuery(instrumentOf(account.id, symbol));
  const all = position.protection?.take_profit ?? [];
  const holding = { quantity, average, last, contract: instrument?.contract_size ?? null, currency };
  const open = all.filter((target) => !isFilled(target));
  const [first, ...others] = open;
  const wonBy = ({ price, quantity: closes, percent }: Target) =>
    wonAt(holding, price, closes || (Math.abs(quantity) * percent) / 100);
  const money = (target: Target) => {
    const won = wonBy(target);
    return won === null ? null : moneyIn(won, currency);
  };
  return (
    <>
      {first && (
        <>
          {figure(first.price)}
          <Parts
            of={[
              all.length > open.length && others.length === 0 ? 'the rest' : shareInWords(first.percent),
              percentFrom(first.price, last),
              money(first),
            ]}
          />
        </>
      )}
      {others.map((target) => (
        <Parts
          key={target.price}
          of={[`${figure(target.price)} ${shareInWords(target.percent)}`, money(target)]}
        />
      ))}
      {all.map((target, index) =>
        isFilled(target) ? <small key={`filled ${target.price}`}>target {index + 1} filled</small> : null,
      )}
    </>
  );
}

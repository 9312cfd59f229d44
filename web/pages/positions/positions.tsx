// Where every account stands beside its strategy, and the one order that would bring them together.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { accounts, brokers } from '../../api/queries.ts';
import { AlignDialog } from '../../parts/align-dialog.tsx';
import { counted, Unreal } from '../../parts/figures.tsx';
import { Led, Page, WaitingPage } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { exposureOf } from '../../parts/protection/exposure.ts';
import { useWithout } from '../../parts/protection/without.ts';
import { RestingEntries } from '../../parts/resting/entries.tsx';
import { useResting } from '../../parts/resting/use-resting.ts';
import { type Sum, sumsByCurrency, unsigned } from '../../parts/sums.ts';
import { useTogether } from '../../parts/together.ts';
import { When } from '../../parts/when.tsx';
import { BookGroup } from './book-group.tsx';
import { type Book, useBooks, wordOf } from './books.ts';
import { OpenOrders } from './open-orders.tsx';
import styles from './positions.module.css';
import { Prices } from './prices.tsx';
import { ResetDialog } from './reset-dialog.tsx';
import { headingOf, tallyOf } from './standing.ts';

/** What asks once more: an Align of a symbol, or a simulated book's reset. */
type Asked = { readonly of: string } & ({ readonly align: string } | { readonly reset: true });
const nameOf = ({ account, simulation }: Book): string => `${account.id} ${simulation}`;

export default function Positions() {
  const askedAccounts = useQuery(accounts);
  const { data: all, error, refetch } = askedAccounts;
  const books = useBooks(all ?? []);
  const without = useWithout(countedOf(books.real));
  const askedResting = useResting();
  const { data: resting = [] } = askedResting;
  const isThere = useTogether(askedAccounts, books, without, askedResting, useQuery(brokers));
  const [asked, setAsked] = useState<Asked | null>(null);
  if (!all && error)
    return (
      <Page title="Positions" answer={<span className="quiet">Positions</span>}>
        <ProblemNote fault={error} onAgain={refetch} />
      </Page>
    );
  if (!all || !isThere) return <WaitingPage name="Positions" words="Reading positions at the brokers" />;
  if (all.length === 0)
    return (
      <Page title="No positions" answer="No positions" facts={<span>There is no account yet.</span>}>
        <p>
          <Link to="/accounts" className="button primary">
            Add an account
          </Link>
        </p>
      </Page>
    );
  const shown = [...books.real, ...books.simulated];
  const book = shown.find((one) => nameOf(one) === asked?.of);
  const heading = headingOf(tallyOf(books.real.flatMap(({ positions = [] }) => positions)));
  return (
    <Page
      title={titleOf(heading, books.real)}
      answer={<Answer books={books.real} />}
      facts={<Facts books={books.real} resting={resting.length} without={without} />}
    >
      <Led>
        <table className={`table listed ${styles.positions}`}>
          <thead>
            <tr>
              <th scope="col">
                <h2>Positions</h2>
              </th>
              <th scope="col" className="num compared">
                Strategy
              </th>
              <th scope="col" className="num compared">
                Broker
              </th>
              <th scope="col" className="num compared">
                Difference
              </th>
              <th scope="col" className="num">
                Average price
              </th>
              <th scope="col" className="num">
                Last price
              </th>
              <th scope="col" className="num">
                Open profit
              </th>
              <th scope="col" className="num">
                Stop, at risk
              </th>
              <th scope="col" className="num">
                Targets
              </th>
              <th scope="col">
                <span className="unseen">Protection</span>
              </th>
            </tr>
          </thead>
          {shown.map((book) => (
            <BookGroup
              key={nameOf(book)}
              book={book}
              onAlign={(symbol) => setAsked({ of: nameOf(book), align: symbol })}
              onReset={() => setAsked({ of: nameOf(book), reset: true })}
            />
          ))}
        </table>
        <p className={styles.note}>
          Strategy: what the last genuine signal said. Broker: what the broker says it holds. An Align is an
          order of its own, with its own story; nothing is aligned unless you say so, or the account is set to
          follow the strategy when it is out of sync. A distance counts from the last price, money from the
          average price; fees and slippage are not in it.
        </p>
      </Led>
      <RestingEntries entries={resting} books={shown} />
      <Prices books={shown} />
      <OpenOrders accounts={all} />
      {asked && book && <Asks asked={asked} book={book} onClose={() => setAsked(null)} />}
    </Page>
  );
}

interface AsksProps {
  readonly asked: Asked;
  readonly book: Book;
  readonly onClose: () => void;
}

function Asks({ asked, book, onClose }: AsksProps) {
  const { account, simulation, positions = [] } = book;
  if ('reset' in asked) return <ResetDialog account={account} count={positions.length} onClose={onClose} />;
  const told = positions.find(({ symbol }) => symbol === asked.align)?.strategy_position ?? undefined;
  return (
    <AlignDialog
      account={account}
      simulation={simulation}
      symbol={asked.align}
      told={told}
      onClose={onClose}
    />
  );
}

const unreadIn = (books: readonly Book[]): number =>
  books.filter(({ positions }) => positions === undefined).length;

function titleOf({ lead, rest, trouble }: ReturnType<typeof headingOf>, books: readonly Book[]): string {
  return unreadIn(books) === books.length ? 'Positions' : `${lead}${rest}${trouble}`;
}

/** What could not be read is never counted as in order. */
function Answer({ books }: { readonly books: readonly Book[] }): ReactNode {
  const unread = unreadIn(books);
  const isReading = books.some((book) => book.isReading);
  if (unread === books.length)
    return (
      <span className="quiet">
        {isReading ? 'Reading positions at the brokers' : 'No broker could be read'}
      </span>
    );
  const tally = tallyOf(books.flatMap(({ positions = [] }) => positions));
  const { lead, rest, trouble } = headingOf(tally);
  const risks = atRisk(books);
  return (
    <>
      {lead}
      <span className="quiet">{rest}</span>
      {trouble && <span className={`${tally.tone ?? ''} ${styles.trouble}`}>{trouble}</span>}
      {risks.length > 0 && (
        <span className="quiet">
          , {risks.map(({ text, currency }) => `${text} ${currency}`).join(', ')} at risk to the stops
        </span>
      )}
      {unread > 0 && (
        <span className="quiet">{`; ${counted(unread, 'account')} not read${isReading ? ' yet' : ''}`}</span>
      )}
    </>
  );
}

/** Lost at the stops, by currency; what is not known of one is not a sum of the others. */
function atRisk(books: readonly Book[]) {
  const known = countedOf(books).flatMap(({ positions = [], currency }) => {
    const { risk } = exposureOf(positions);
    return risk === null ? [] : [{ value: risk, currency }];
  });
  return unsigned(sumsByCurrency(known));
}

function Stops({ books }: { readonly books: readonly Book[] }) {
  const { stops, standing } = exposureOf(books.flatMap(({ positions = [] }) => positions));
  if (stops === 0) return null;
  return (
    <span>
      <b>{standing}</b> of {counted(stops, 'wanted stop')} {stops === 1 ? 'stands' : 'stand'}
    </span>
  );
}

const isMoney = (book: Book): boolean => wordOf(book) === null;
/** Money that is none is not added to money that is. */
const countedOf = (books: readonly Book[]): readonly Book[] =>
  books.some(isMoney) ? books.filter(isMoney) : books;

interface FactsProps {
  readonly books: readonly Book[];
  readonly resting: number;
  readonly without: ReturnType<typeof useWithout>;
}

function Facts({ books, resting, without: { missing, unasked } }: FactsProps): ReactNode {
  const readAt = books.flatMap((book) => (book.readAt === null ? [] : [book.readAt]));
  const counts = countedOf(books);
  if (readAt.length === 0) return null;
  const words = new Set(books.some(isMoney) ? [] : books.flatMap((book) => wordOf(book) ?? []));
  const open = sumsByCurrency(
    counts.flatMap(({ positions = [], currency }) =>
      positions.map(({ open_profit }) => ({ value: open_profit, currency })),
    ),
  );
  const realised = sumsByCurrency(
    counts.flatMap(({ realised: sums, currency }) =>
      [...sums.values()].map((value) => ({ value, currency })),
    ),
  );
  return (
    <>
      <span>
        Read at the brokers{' '}
        <b>
          <When at={new Date(Math.min(...readAt)).toISOString()} relative />
        </b>
      </span>
      <Stops books={counts} />
      {resting > 0 && (
        <span>
          <b>{resting}</b> {resting === 1 ? 'entry rests' : 'entries rest'}
        </span>
      )}
      <Sums name="without its stop" sums={unsigned(missing)} tone="risk" />
      <Sums name="none asked for" sums={unsigned(unasked)} />
      <Sums name="open" sums={open} />
      <Sums name="realised today" sums={realised} />
      {words.size > 0 && open.length + realised.length > 0 && <Unreal word={[...words].join(', ')} />}
    </>
  );
}

interface SumsProps {
  readonly name: string;
  readonly sums: readonly Sum[];
  readonly tone?: 'risk';
}

function Sums({ name, sums, tone }: SumsProps) {
  if (sums.length === 0) return null;
  return (
    <span className={tone}>
      {name}{' '}
      {sums.map(({ currency, text }, index) => (
        <span key={currency}>
          {index > 0 && ', '}
          <b>{text}</b> {currency}
        </span>
      ))}
    </span>
  );
}

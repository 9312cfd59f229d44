// The price that an entry waits for, until when, and how its waiting ended.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { figure } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { hasPrice, isResting, leftInWords, priceInWords, takenBackBy } from '../../parts/resting/words.ts';
import { useNow, When } from '../../parts/when.tsx';

type Order = Schemas['OrderRecord'];

export function WaitsFor({ order }: { readonly order: Order }) {
  if (!hasPrice(order) || order.expires_at === null) return null;
  const { limit_price: limit, stop_price: stop, time_in_force: inForce, entry_id: name } = order;
  const waits = isResting(order);
  return (
    <Section
      title={waits ? 'What it waits for' : 'What it waited for'}
      more={waits && <Link to={'/positions' as never}>All that rests</Link>}
    >
      <dl className="rows">
        <div>
          <dt>price</dt>
          <dd>
            {priceInWords(order)}{' '}
            <span className="quiet">
              {stop === null
                ? 'it fills at this price or better'
                : limit === null
                  ? 'at the market once that price is reached'
                  : 'once the stop is reached it fills at the limit or better'}
            </span>
          </dd>
        </div>
        <div>
          <dt>in force</dt>
          <dd>
            {inForce}{' '}
            {(inForce === 'gtc' || inForce === 'day') && (
              <Until at={order.expires_at} waits={waits} isDay={inForce === 'day'} />
            )}
          </dd>
        </div>
        <div>
          <dt>its id</dt>
          <dd>
            {name ?? <span className="quiet">none</span>}{' '}
            <span className="quiet">
              {waits && `the next entry ${name === null ? 'without one' : 'of this id'} takes its place`}
            </span>
          </dd>
        </div>
        <div>
          <dt>{waits ? 'now' : 'in the end'}</dt>
          <dd>
            <Now order={order} />
          </dd>
        </div>
      </dl>
    </Section>
  );
}

interface UntilProps {
  readonly at: string;
  readonly waits: boolean;
  readonly isDay: boolean;
}

/** Alone, so that only these words tick. */
function Until({ at, waits, isDay }: UntilProps) {
  const left = Date.parse(at) - useNow();
  return (
    <span className="quiet">
      {isDay ? 'until its session ends, and at the latest' : 'until'} <When at={at} />
      {waits && left > 0 && `, in ${leftInWords(left)}; then we take it back`}
    </span>
  );
}

function Now({ order }: { readonly order: Order }) {
  const { status, fill_quantity, error } = order;
  const filled = fill_quantity ?? 0;
  const entry = order.legs.find(({ leg }) => leg === 'entry');
  const parts =
    filled > 0 && entry ? `${figure(filled)} of ${figure(entry.quantity)} filled` : 'nothing filled';
  if (isResting(order))
    return (
      <>
        rests at the broker
        {entry?.acked_at && (
          <>
            {' '}
            since <When at={entry.acked_at} />
          </>
        )}
        , {parts}
      </>
    );
  const back = takenBackBy(error);
  if (!back) return status === 'filled' ? 'filled' : `${status}, ${parts}`;
  return (
    <>
      <p>
        taken back, {parts}: {back.why}
      </p>
      {back.by && (
        <p>
          <Link to={`/orders/${back.by}` as never}>That order’s story</Link>
        </p>
      )}
    </>
  );
}

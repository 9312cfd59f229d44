// Where nobody knows what became of an order: what is being done about it, and what it means either way.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { CopyId } from '../../parts/copy.tsx';
import { minus, plus } from '../../parts/exact.ts';
import { Held } from '../../parts/figures.tsx';
import { waitedInBackup } from '../../parts/happened.ts';
import { Mark } from '../../parts/marks.tsx';
import { counted, figure, heldInWords } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { ageInWords, useNow, When } from '../../parts/when.tsx';
import { aroundOrder } from './queries.ts';
import storyStyles from './story.module.css';
import styles from './unknown.module.css';

type Order = Schemas['OrderRecord'];

export function Unknown({ order }: { readonly order: Order }) {
  return (
    <div className="columns even">
      <Section title="What is being done" more={<span className="quiet">nothing is sent again</span>}>
        <Looks order={order} />
      </Section>
      <Section title="What it means">
        <Meaning order={order} />
      </Section>
    </div>
  );
}

function Looks({ order }: { readonly order: Order }) {
  return waitedInBackup(order) ? (
    <ol className={styles.looks}>
      <li className={styles.next}>
        <Mark name="risk" />
        <b>by hand</b>
        <span>It is not looked up from here. {order.error?.message}</span>
      </li>
    </ol>
  ) : (
    <ByVerification order={order} />
  );
}

function ByVerification({ order: { order_id, verification, broker_name } }: { readonly order: Order }) {
  const { data: around } = useQuery(aroundOrder(order_id));
  const now = useNow();
  const { attempts, next_at, state } = verification;
  const left = next_at === null ? 0 : Date.parse(next_at) - now;
  return (
    <ol className={styles.looks}>
      {attempts > 0 && (
        <li>
          <Mark name="refused" />
          <span>{counted(attempts, 'look')} so far</span>
          <span>{around?.last_look ?? `${broker_name} could not say yet what became of it`}</span>
        </li>
      )}
      {next_at !== null && (
        <li className={styles.next}>
          <Mark name="executing" />
          <b>{left > 0 ? `in ${ageInWords(left)}` : 'now'}</b>
          <span>
            <b>Look {figure(attempts + 1)}</b>, at <When at={next_at} />
          </span>
        </li>
      )}
      {state === 'dead_letter' ? (
        <li className={styles.next}>
          <Mark name="risk" />
          <b>given up</b>
          <span>It is no longer looked up by itself. Look now, or record what became of it.</span>
        </li>
      ) : (
        <li>
          <Mark name="placed" />
          <span>in the end</span>
          <span>If the broker never says, we stop asking, and you decide</span>
        </li>
      )}
    </ol>
  );
}

function Meaning({ order }: { readonly order: Order }) {
  const { legs, position_before, target, symbol } = order;
  const open = legs.find(({ status }) => status === 'unknown');
  if (!open)
    return (
      <p className={storyStyles.aside}>
        The next signal reads the position at the broker first, whatever became of this one.
      </p>
    );
  const move = (from: number, { side }: typeof open, quantity: number) =>
    side === 'buy' ? plus(from, quantity) : minus(from, quantity);
  const before =
    position_before === null
      ? null
      : legs
          .filter((leg) => leg !== open)
          .reduce((held, leg) => move(held, leg, leg.fill_quantity ?? 0), position_before);
  const ifFilled = before === null ? null : move(before, open, open.quantity);
  const stands = order.market_position === null ? null : target;
  return (
    <dl className={`rows ${styles.meaning}`}>
      {before !== null && ifFilled !== null && (
        <>
          <div>
            <dt>If it was filled</dt>
            <dd>
              <Held position={ifFilled} />
              {stands === null
                ? '.'
                : stands === ifFilled
                  ? ', as the strategy says. Nothing needs to be done.'
                  : `; the strategy stands ${heldInWords(stands)}.`}
            </dd>
          </div>
          <div>
            <dt>If it was not</dt>
            <dd>
              <Held position={before} />
              {stands === null || stands === before ? (
                '.'
              ) : (
                <>
                  ; the strategy stands <Held position={stands} />. Aligning would{' '}
                  {stands > before ? 'buy' : 'sell'} {figure(Math.abs(minus(stands, before)))} at market.
                </>
              )}
            </dd>
          </div>
        </>
      )}
      <div>
        <dt>Until then</dt>
        <dd>The next signal reads the position at the broker first, whatever became of this one.</dd>
      </div>
      <div>
        <dt>You can</dt>
        <dd>
          look at the broker yourself: client order id <CopyId id={open.client_order_id} whole />, or see{' '}
          <Link to={'/positions' as never}>what it holds of {symbol}</Link>.
        </dd>
      </div>
    </dl>
  );
}

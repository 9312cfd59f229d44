// What was sent to the broker, and what it came to.

import type { Schemas } from '../../api/client.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Figure, Side } from '../../parts/figures.tsx';
import { Status } from '../../parts/marks.tsx';
import { figure, signed } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import styles from './legs.module.css';
import { useCurrency } from './queries.ts';
import { amountInWords } from './said.ts';
import { legSlippage, shareOf, togetherOf } from './sums.ts';

type Order = Schemas['OrderRecord'];
type Leg = Schemas['Leg'];

export function Legs({ order }: { readonly order: Order }) {
  const { legs, price } = order;
  const together = togetherOf(legs);
  const currency = useCurrency(order.broker_name);
  // Of what is not known there is no sum.
  const hasSum = legs.length > 1 && legs.every(({ status }) => status !== 'unknown');
  const said = [
    ...(price === null ? [] : [`the signal’s price was ${figure(price)}`]),
    ...(together.fees === null ? [] : [`fees ${amountInWords(together.fees, currency)}`]),
  ];
  return (
    <Led>
      <table className={`table listed ${styles.legs}`}>
        <thead>
          <tr>
            <th scope="col">
              <h2>Legs</h2>
            </th>
            <th scope="col">Side</th>
            <th scope="col" className="num">
              Quantity
            </th>
            <th scope="col" className="num">
              Filled
            </th>
            <th scope="col" className="num">
              Price
            </th>
            <th scope="col" className="num" title="Against the signal’s own price; minus is worse">
              Slippage
            </th>
            <th scope="col" className="num">
              Sent, ms
            </th>
            <th scope="col">Status</th>
            <th scope="col">Client order id</th>
            <th scope="col">Broker reference</th>
          </tr>
        </thead>
        <tbody>
          {legs.map((leg) => (
            <LegRow key={leg.client_order_id} leg={leg} order={order} />
          ))}
        </tbody>
        {(hasSum || said.length > 0) && (
          <tfoot>
            <tr>
              {hasSum && (
                <>
                  <td colSpan={2}>together</td>
                  <td className="num">{figure(together.quantity)}</td>
                  <td className="num">{figure(together.filled)}</td>
                  <td className="num">{together.price === null ? null : figure(together.price)}</td>
                </>
              )}
              <td colSpan={hasSum ? 5 : 10} className={styles.words}>
                {said.join('; ')}
              </td>
            </tr>
          </tfoot>
        )}
      </table>
    </Led>
  );
}

function LegRow({ leg, order }: { readonly leg: Leg; readonly order: Order }) {
  const slippage = legSlippage(leg, order.price);
  const isKnown = leg.status !== 'unknown';
  const known = (value: number | null) =>
    isKnown ? value === null ? null : <Figure value={value} /> : <span className="quiet">not known</span>;
  return (
    <tr>
      <td>{leg.leg}</td>
      <td>
        <Side side={leg.side} />
      </td>
      <td className="num">{figure(leg.quantity)}</td>
      <td className="num">{known(leg.fill_quantity)}</td>
      <td className="num" data-head={leg.fill_price === null && isKnown ? undefined : 'filled at'}>
        {known(leg.fill_price)}
      </td>
      <td className="num" data-head={slippage === null ? undefined : 'slippage'}>
        {slippage === null ? null : signed(slippage)}
      </td>
      <td className="num">
        {leg.sent_at === null || order.source === 'protection'
          ? null
          : figure(Date.parse(leg.sent_at) - Date.parse(order.submitted_at))}
      </td>
      <td>
        <Status status={leg.status} share={shareOf([leg])} />
      </td>
      <td data-head="our id">
        <CopyId id={leg.client_order_id} />
      </td>
      <td data-head="its reference">
        {leg.broker_ref === null ? <span className="quiet">none given</span> : <CopyId id={leg.broker_ref} />}
      </td>
    </tr>
  );
}

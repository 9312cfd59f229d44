// The order that the message would give as things stand now.

import type { Schemas } from '../../api/client.ts';
import { counted, Figure, Side, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { useOver } from '../../parts/over.tsx';
import { Section } from '../../parts/page.tsx';
import type { QuantityType } from '../../parts/sizes.ts';
import styles from './check.module.css';
import type { Checked } from './remarks.ts';

const REHEARSED = new Set(['buy', 'sell', 'close']);

export function Plan({
  checked,
  account,
  simulation,
}: {
  readonly checked: Checked;
  readonly account: Schemas['Account'];
  readonly simulation: boolean;
}) {
  const { openTrade } = useOver();
  const { plan, understood } = checked;
  const { action, symbol, quantity, quantity_type, order_type } = (understood ?? {}) as {
    action?: 'buy' | 'sell' | 'close';
    symbol?: string;
    quantity?: number;
    quantity_type?: QuantityType;
    order_type?: 'entry' | 'exit' | null;
  };
  const unreal = unrealWord({ simulation, broker_name: account.broker, environment: account.environment });
  return (
    <Section
      title="The order it would give"
      more={
        <span className="quiet">
          {checked.examples.length > 0 && 'with examples for what the platform fills in, '}as things stand now
        </span>
      }
    >
      {plan ? (
        <div className={unreal ? 'hatched' : undefined}>
          <p className={styles.say}>
            {plan.text} <Unreal word={unreal} />
          </p>
          {plan.sizing?.text && <p className="quiet">{plan.sizing.text}</p>}
          <Legs legs={plan.legs} symbol={symbol ?? ''} />
          <Guards guards={plan.guards} />
        </div>
      ) : (
        <p className={styles.say}>
          {action === ('sync' as string)
            ? 'None: it only reports where the strategy stands.'
            : 'It cannot be planned now.'}
        </p>
      )}
      {plan && action && REHEARSED.has(action) && symbol && (
        <div className={styles.under}>
          <button
            type="button"
            className="button"
            onClick={() =>
              openTrade({
                accountId: account.id,
                symbol,
                action,
                ...(quantity ? { quantity } : {}),
                ...(quantity_type ? { counts: quantity_type } : {}),
                ...(order_type ? { orderType: order_type } : {}),
                simulation: true,
              })
            }
          >
            Rehearse it in simulation
          </button>
          <p>{guardsInWords(plan.guards)}</p>
        </div>
      )}
    </Section>
  );
}

type PlannedLeg = NonNullable<Checked['plan']>['legs'][number];

function Legs({ legs, symbol }: { readonly legs: readonly PlannedLeg[]; readonly symbol: string }) {
  if (legs.length === 0) return null;
  return (
    <table className="table dense">
      <caption className="unseen">The orders that would be sent</caption>
      <thead className="unseen">
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Leg</th>
          <th scope="col">Side</th>
          <th scope="col">Quantity</th>
          <th scope="col">What</th>
        </tr>
      </thead>
      <tbody>
        {legs.map(({ leg, side, quantity }, place) => (
          <tr key={leg}>
            <td className="quiet">{place + 1}</td>
            <td>{leg}</td>
            <td>
              <Side side={side} />
            </td>
            <td className="num">
              <Figure value={quantity} />
            </td>
            <td className="num quiet">{symbol} at market</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Verdicts = NonNullable<Checked['plan']>['guards'];

const guardsInWords = (guards: Verdicts): string => {
  const passed = guards.filter(({ outcome }) => outcome === 'passed').length;
  return guards.length === 0
    ? 'No guard is set.'
    : `${passed} of ${counted(guards.length, 'guard')} would pass.`;
};

function Guards({ guards }: { readonly guards: Verdicts }) {
  const refused = guards.filter(({ outcome }) => outcome === 'refused');
  if (refused.length === 0) return null;
  return (
    <ul className={styles.notes}>
      {refused.map(({ guard, reason }) => (
        <li key={guard}>
          <span className="status act">
            <Mark name="act" />
            <code>{guard}</code>
          </span>{' '}
          {reason}
        </li>
      ))}
    </ul>
  );
}

// An order by hand, from anywhere: its fields, then what it will do, then the button that says it.

import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { balance, positions } from '../../api/broker-reads.ts';
import { accounts, ownSession } from '../../api/queries.ts';
import { Drawer } from '../../parts/dialog.tsx';
import type { TradeDraft } from '../../parts/drafts.ts';
import { readQuantity, typed } from '../../parts/exact.ts';
import { unrealWord } from '../../parts/figures.tsx';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { asksNothing, hasProblem, problemsOf, sentOf } from '../../parts/protection/asked.ts';
import { useResting } from '../../parts/resting/use-resting.ts';
import { entryInWords, makesWay } from '../../parts/resting/words.ts';
import { spelled } from '../../parts/symbol.ts';
import { unanswered } from './intent.ts';
import { tabKeep } from './keep.ts';
import { PlanView, Verdict } from './plan-view.tsx';
import { hasLimit, hasStop, pricingOf, pricingProblems } from './pricing.ts';
import { Protecting } from './protecting.tsx';
import { SendButton } from './send-button.tsx';
import { useInstrument } from './symbol-field.tsx';
import styles from './trade-drawer.module.css';
import { NoAccount, TradeFields } from './trade-fields.tsx';
import { usePlan } from './use-plan.ts';
import { useSending } from './use-sending.ts';
import { type Fields, sameWish, type Wish, wishOf } from './wish.ts';

interface TradeDrawerProps {
  readonly draft: TradeDraft;
  readonly onClose: () => void;
}

const startOf = ({
  accountId = '',
  symbol = '',
  action,
  quantity,
  counts = 'units',
  orderType = 'entry',
  simulation = false,
  limitPrice,
  stopPrice,
  timeInForce,
  expiresIn,
  name,
}: TradeDraft): Fields => ({
  accountId,
  symbol,
  side: action === 'sell' ? 'sell' : 'buy',
  quantity: quantity === undefined ? '' : typed(quantity),
  counts,
  kind: action === 'close' ? 'close' : orderType,
  simulation,
  pricing: pricingOf({
    ...(limitPrice !== undefined && { limit_price: limitPrice }),
    ...(stopPrice !== undefined && { stop_price: stopPrice }),
    ...(timeInForce !== undefined && { time_in_force: timeInForce }),
    ...(expiresIn !== undefined && { expires_in: expiresIn }),
    ...(name !== undefined && { id: name }),
  }),
  protection: asksNothing(),
});

/** Opened for something else, it starts anew. */
export default function TradeDrawer({ draft, onClose }: TradeDrawerProps) {
  const { data: session, error } = useQuery(ownSession);
  return (
    <Drawer title="Trade" onClose={onClose}>
      {session ? (
        <Trade key={JSON.stringify(draft)} userId={session.user.id} draft={draft} onClose={onClose} />
      ) : error ? (
        <ProblemNote fault={error} />
      ) : (
        <Skeleton rows={6} />
      )}
    </Drawer>
  );
}

function Trade({ userId, draft, onClose }: TradeDrawerProps & { readonly userId: string }) {
  const { data: all, error } = useQuery(accounts);
  const [typedFields, setFields] = useState(() => startOf(draft));
  const fields = { ...typedFields, accountId: typedFields.accountId || (all?.[0]?.id ?? '') };
  const remarks = useId();
  const account = all?.find(({ id }) => id === fields.accountId) ?? null;
  const instrument = useInstrument(fields.accountId, fields.symbol, account?.broker);
  const spelling = spelled(fields.symbol.trim(), account?.broker);
  const held = useQuery({
    ...positions(fields.accountId, { simulation: fields.simulation }),
    enabled: fields.accountId !== '',
  });
  const position = held.data?.items.find(({ symbol }) => symbol === spelling) ?? null;
  const money = useQuery({
    ...balance(fields.accountId),
    enabled: fields.accountId !== '' && position?.last_price != null,
  });
  const opens = fields.kind === 'entry';
  const price = (opens ? waitsAt(fields.pricing) : null) ?? position?.last_price ?? null;
  const ground = {
    isLong: fields.side === 'buy',
    // Distances count from the fill, which will be about here.
    entry: price,
    last: price,
    tick: instrument?.tick_size ?? null,
  };
  const problems = problemsOf(fields.protection, ground);
  const priceProblems = pricingProblems(fields.pricing, instrument?.tick_size ?? null);
  const isWrong = hasProblem(problems) || Object.values(priceProblems).some((problem) => problem !== null);
  const wish = opens && isWrong ? null : wishOf(fields);
  const makeWay = useMakeWay(wish);
  const planned = usePlan(wish);
  const sending = useSending(userId, onClose);
  const open = sending.isPending ? null : unanswered(tabKeep, { userId, now: Date.now() });
  const isAgain = open !== null && sameWish(open.wish, wish);

  if (!all) return error ? <ProblemNote fault={error} /> : <Skeleton rows={6} />;
  if (all.length === 0) return <NoAccount onLeave={onClose} />;
  const unreal = account
    ? unrealWord({
        simulation: fields.simulation,
        broker_name: account.broker,
        environment: account.environment,
      })
    : null;
  const change = (changed: Partial<Fields>) => {
    // What was said of other fields is not said of these.
    if (!sending.isPending) sending.forget();
    setFields({ ...fields, ...changed });
  };
  return (
    <>
      <TradeFields
        fields={fields}
        onChange={change}
        accounts={all}
        instrument={instrument}
        position={position}
        price={price}
        isFlat={held.isSuccess && position === null}
        currency={money.data?.currency ?? null}
        quantity={readQuantity(fields.quantity)}
        isLocked={sending.isPending}
        remarksId={remarks}
      />
      {opens && (
        <Protecting
          fields={fields}
          onChange={change}
          problems={problems}
          ground={ground}
          contract={instrument?.contract_size ?? null}
          currency={money.data?.currency ?? null}
          account={account}
          isFlat={held.isSuccess && (position === null || position.quantity === 0)}
          isLocked={sending.isPending}
        />
      )}
      <PlanView
        planned={planned}
        isComplete={wish !== null}
        isAgain={isAgain}
        position={position}
        unreal={unreal}
      >
        <ul className={styles.verdicts}>
          {account?.halted && opens && (
            <Verdict mark="act" isAct>
              {account.name} is halted: entries are refused until you resume it; exits and closes pass.
            </Verdict>
          )}
          {makeWay.length > 0 && (
            <Verdict mark="placed">Takes back first: {makeWay.map(entryInWords).join(', ')}.</Verdict>
          )}
          {draft.dropsProtection && opens && Object.keys(sentOf(fields.protection)).length === 0 && (
            <Verdict mark="act" isAct>
              What this entry takes the place of asked for a stop or a target. They are not carried over:
              enter them again under “Stop, target and more”.
            </Verdict>
          )}
        </ul>
      </PlanView>
      {account && (
        <SendButton
          wish={wish}
          planned={planned}
          account={account}
          unreal={unreal}
          open={open}
          sending={sending}
          onChange={change}
          onLeave={onClose}
        />
      )}
    </>
  );
}

/** Where an entry waits, as far as it is typed; null: nowhere. */
const waitsAt = (pricing: Fields['pricing']): number | null =>
  (hasLimit(pricing) ? readQuantity(pricing.limit) : null) ??
  (hasStop(pricing) ? readQuantity(pricing.stop) : null);

/** What rests and would be taken back before this order is made. */
function useMakeWay(wish: Wish | null) {
  const { data: resting = [] } = useResting();
  return wish ? makesWay(resting, wish) : [];
}

// An order by hand, from anywhere: its fields, then what it will do, then the button that says it.

import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { balance, positions } from '../../api/broker-reads.ts';
import { accounts, ownSession } from '../../api/queries.ts';
import { Drawer } from '../../parts/dialog.tsx';
import { readQuantity, typed } from '../../parts/exact.ts';
import { unrealWord } from '../../parts/figures.tsx';
import type { TradeDraft } from '../../parts/over.tsx';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { asksNothing, hasProblem, problemsOf } from '../../parts/protection/asked.ts';
import { unanswered } from './intent.ts';
import { tabKeep } from './keep.ts';
import { PlanView, Verdict } from './plan-view.tsx';
import { Protecting } from './protecting.tsx';
import { SendButton } from './send-button.tsx';
import { useInstrument } from './symbol-field.tsx';
import styles from './trade-drawer.module.css';
import { NoAccount, TradeFields } from './trade-fields.tsx';
import { usePlan } from './use-plan.ts';
import { useSending } from './use-sending.ts';
import { type Fields, sameWish, wishOf } from './wish.ts';

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
}: TradeDraft): Fields => ({
  accountId,
  symbol,
  side: action === 'sell' ? 'sell' : 'buy',
  quantity: quantity === undefined ? '' : typed(quantity),
  counts,
  kind: action === 'close' ? 'close' : orderType,
  simulation,
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
  const instrument = useInstrument(fields.accountId, fields.symbol);
  const held = useQuery({
    ...positions(fields.accountId, { simulation: fields.simulation }),
    enabled: fields.accountId !== '',
  });
  const position =
    held.data?.items.find(({ symbol }) => symbol.toLowerCase() === fields.symbol.trim().toLowerCase()) ??
    null;
  const money = useQuery({
    ...balance(fields.accountId),
    enabled: fields.accountId !== '' && position?.last_price != null,
  });
  const ground = {
    isLong: fields.side === 'buy',
    // Distances count from the fill, which will be about here.
    entry: position?.last_price ?? null,
    last: position?.last_price ?? null,
    tick: instrument?.tick_size ?? null,
  };
  const problems = problemsOf(fields.protection, ground);
  const opens = fields.kind === 'entry';
  const wish = opens && hasProblem(problems) ? null : wishOf(fields);
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
        {account?.halted && opens && (
          <ul className={styles.verdicts}>
            <Verdict mark="act" isAct>
              {account.name} is halted: entries are refused until you resume it; exits and closes pass.
            </Verdict>
          </ul>
        )}
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

// The button is ink and says the order; it is there for the plan of exactly these fields, and for nothing else.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import drawer from '../../parts/drawer.module.css';
import { useOver } from '../../parts/over.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { clockTime } from '../../parts/when.tsx';
import { type Intent, leavesOpen } from './intent.ts';
import type { Planned } from './use-plan.ts';
import type { Sending } from './use-sending.ts';
import {
  buttonWords,
  type Fields,
  fieldsOf,
  sameWish,
  sendsSomething,
  type Wish,
  wishInWords,
} from './wish.ts';

interface SendButtonProps {
  readonly wish: Wish | null;
  readonly planned: Planned;
  readonly account: Schemas['Account'];
  readonly unreal: string | null;
  /** A press that has no answer yet. */
  readonly open: Intent | null;
  readonly sending: Sending;
  readonly onChange: (changed: Partial<Fields>) => void;
  readonly onLeave: () => void;
}

export function SendButton(props: SendButtonProps) {
  const { wish, planned, account, unreal, open, sending, onChange, onLeave } = props;
  const { plan } = planned;
  const isAgain = open !== null && sameWish(open.wish, wish);
  // Asked again, its answer is wanted even where by now there is nothing left to send.
  const isReady = wish !== null && plan !== null && (isAgain || sendsSomething(plan)) && !sending.isPending;
  const words =
    !wish || !plan
      ? 'No plan yet'
      : isAgain
        ? `Ask again for that order: ${wishInWords(wish)}`
        : buttonWords(wish, plan);
  return (
    <div className={drawer.sends}>
      {sending.error && (
        <ProblemNote fault={sending.error}>
          <WayOn problem={problemOf(sending.error)} account={account} onChange={onChange} onLeave={onLeave} />
        </ProblemNote>
      )}
      {open && <Unanswered intent={open} wish={wish} onChange={onChange} onLeave={onLeave} />}
      <button
        type="button"
        className="button trade"
        disabled={!isReady}
        onClick={() => wish && planned.isStillGood() && sending.send(wish)}
      >
        {sending.isPending ? `Sending: ${words}` : words}
      </button>
      <p>
        {unreal ? `No real money (${unreal})` : 'Real money'}, on {account.name}. Sent once: a second click
        sends nothing.
      </p>
    </div>
  );
}

interface UnansweredProps extends Pick<SendButtonProps, 'wish' | 'onChange' | 'onLeave'> {
  readonly intent: Intent;
}

/** A press whose answer never came. It may have traded: that is said until it is known. */
function Unanswered({ intent, wish, onChange, onLeave }: UnansweredProps) {
  const at = clockTime(new Date(intent.pressedAt));
  const look = (
    <Link to="/signals" search={{ search: intent.wish.symbol } as never} onClick={onLeave}>
      look at its orders
    </Link>
  );
  if (sameWish(intent.wish, wish))
    return (
      <p className={`act ${drawer.pressed}`} role="status">
        Pressed at {at}, and no answer came. Asking again concerns that same order: it is never sent twice,
        and is sent now only if it never arrived. {look}
      </p>
    );
  return (
    <p className={`act ${drawer.pressed}`} role="status">
      An order sent at {at} has no answer yet ({wishInWords(intent.wish)}). It may have been sent.{' '}
      <button type="button" className="link" onClick={() => onChange(fieldsOf(intent.wish))}>
        Ask for that one again
      </button>{' '}
      or {look}
    </p>
  );
}

interface WayOnProps extends Pick<SendButtonProps, 'account' | 'onChange' | 'onLeave'> {
  readonly problem: Problem;
}

/** Where a refusal can be mended. */
function WayOn({ problem, account, onChange, onLeave }: WayOnProps) {
  const { openHalt } = useOver();
  if (leavesOpen(problem)) return null;
  switch (problem.code) {
    case 'account_halted':
      return (
        <button type="button" className="link" onClick={() => openHalt(account.id)}>
          Resume {account.name}…
        </button>
      );
    case 'plan_simulation_only':
      return (
        <button type="button" className="link" onClick={() => onChange({ simulation: true })}>
          Simulate it
        </button>
      );
    case 'credentials_not_verified':
      return (
        <Link to="/accounts/$id" params={{ id: account.id } as never} onClick={onLeave}>
          Go to its credentials
        </Link>
      );
    case 'terms_not_accepted':
      return (
        <Link to="/" onClick={onLeave}>
          Go to the terms
        </Link>
      );
    case 'ip_not_allowed':
      return (
        <Link to="/security" onClick={onLeave}>
          Go to the allowed addresses
        </Link>
      );
    default:
      return null;
  }
}

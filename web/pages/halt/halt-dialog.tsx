// The kill switch's one confirmation. Halting never waits for what is held: brokers may hang, and that is when it is needed.

import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { positions } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { ASK_AGAIN_MS, isFresh } from '../../api/fresh.ts';
import { problemOf } from '../../api/problem.ts';
import { accounts } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Unreal, unrealWord } from '../../parts/figures.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useResting } from '../../parts/resting/use-resting.ts';
import { ResumeDialog } from '../../parts/resume-dialog.tsx';
import { useNow } from '../../parts/when.tsx';
import styles from './halt-dialog.module.css';
import { type Choice, closeWords, haltWords, holdingInWords, restingInWords } from './halt-words.ts';
import type { Halting } from './halting.ts';
import type { Progress } from './throwing.ts';

interface HaltDialogProps {
  readonly accountId: string | null;
  readonly halting: Halting;
  readonly onClose: () => void;
}

export function HaltDialog({ accountId, halting, onClose }: HaltDialogProps) {
  const { data: all = [], error } = useQuery(accounts);
  const held = useQueries({
    queries: all.map(({ id }) => ({ ...positions(id), refetchInterval: ASK_AGAIN_MS })),
  });
  const { data: resting = [] } = useResting();
  // An answer grows old while the next one does not come.
  useNow();
  const { progress, isBusy, halt, forget } = halting;
  const [resuming, setResuming] = useState<Schemas['Account'] | null>(null);
  /** Only what somebody changed: an account that appears meanwhile is meant as well. */
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const choose = (id: string, yes: boolean) => setChanged((before) => new Map(before).set(id, yes));
  // What did not go well is meant by the next press, too.
  const isChosen = ({ id, halted }: Schemas['Account']) =>
    changed.get(id) ?? (wantsAgain(progress.get(id)) || (accountId === null ? !halted : id === accountId));

  const choices = all.map((account, index) => ({
    account,
    holding: freshItems(held[index]),
    resting: resting.filter(({ trading_account_id }) => trading_account_id === account.id).length,
    fault: held[index]?.error ?? null,
  }));
  const chosen = choices.filter(({ account }) => isChosen(account));
  const ids = chosen.map(({ account }) => account.id);
  const halts = haltWords(chosen);
  const closes = closeWords(chosen);
  return (
    <>
      <Dialog title="Halt" leave={progress.size > 0 && !isBusy ? 'Close' : 'Cancel'} onClose={onClose}>
        <p>
          Every new entry is refused, simulated ones too, until you resume, and entries that rest at the
          broker are taken back. Exits still pass, so that strategies can get out; stops and targets stay.
          Whatever is being sent at this moment is completed.
        </p>
        {error && all.length === 0 && <ProblemNote fault={error} />}
        <table className={`table ${styles.accounts}`}>
          <thead className="unseen">
            <tr>
              <th scope="col">Account</th>
              <th scope="col">Holds</th>
            </tr>
          </thead>
          <tbody>
            {choices.map((choice) => (
              <AccountRow
                key={choice.account.id}
                {...choice}
                isChosen={isChosen(choice.account)}
                onChoose={(yes) => choose(choice.account.id, yes)}
                isBusy={isBusy}
                progress={progress.get(choice.account.id)}
                onResume={() => setResuming(choice.account)}
                onLeave={onClose}
              />
            ))}
          </tbody>
        </table>
        <div className={styles.choices}>
          <button
            type="button"
            className="button primary"
            data-first
            disabled={isBusy || halts === null}
            onClick={() => void halt(ids, { flatten: false })}
          >
            {halts ?? (chosen.length === 0 ? 'Halt' : 'Halted')}
          </button>
          {closes && (
            <button
              type="button"
              className="button trade"
              disabled={isBusy}
              onClick={() => void halt(ids, { flatten: true })}
            >
              {closes}
            </button>
          )}
        </div>
      </Dialog>
      {resuming && (
        <ResumeDialog
          account={resuming}
          onClose={() => setResuming(null)}
          onResumed={() => {
            // It is not meant by the next press.
            choose(resuming.id, false);
            forget(resuming.id);
          }}
        />
      )}
    </>
  );
}

/** Null where it is not known now. What was flat before its broker stopped to answer may hold anything. */
const freshItems = (asked: UseQueryResult<Schemas['Positions']> | undefined): Choice['holding'] =>
  asked?.data && isFresh(asked) ? asked.data.items : null;

const wantsAgain = (progress: Progress | undefined): boolean =>
  progress?.is === 'failed' || (progress?.is === 'done' && progress.outcome.tone !== 'good');

interface AccountRowProps extends Choice {
  readonly account: Schemas['Account'];
  readonly fault: unknown;
  readonly isChosen: boolean;
  readonly onChoose: (yes: boolean) => void;
  readonly isBusy: boolean;
  readonly progress: Progress | undefined;
  readonly onResume: () => void;
  readonly onLeave: () => void;
}

function AccountRow(props: AccountRowProps) {
  const { account, isChosen, onChoose, isBusy, progress, onResume, onLeave } = props;
  const word = unrealWord({ broker_name: account.broker, environment: account.environment });
  return (
    <tr className={word ? 'hatched' : ''}>
      <td>
        <label>
          <input
            type="checkbox"
            checked={isChosen}
            disabled={isBusy}
            onChange={({ target }) => onChoose(target.checked)}
          />
          <span>
            {account.name} <Unreal word={word} />
          </span>
        </label>
      </td>
      <td>
        <div className={styles.holds}>
          <span className="quiet">
            {account.halted && (
              <>
                <b>halted</b>,{' '}
              </>
            )}
            <Holds {...props} />
            {props.resting ? `; ${restingInWords(props.resting)}` : null}
          </span>
          {account.halted && (
            <button type="button" className={`link ${styles.resume}`} disabled={isBusy} onClick={onResume}>
              Resume<span className="unseen"> {account.name}</span>…
            </button>
          )}
        </div>
        <div role="status">{progress && <Became progress={progress} onLeave={onLeave} />}</div>
      </td>
    </tr>
  );
}

function Holds({ holding, fault }: Pick<AccountRowProps, 'holding' | 'fault'>) {
  if (holding) return holdingInWords(holding);
  return fault === null ? 'asking the broker what it holds' : 'what it holds is not known: no answer';
}

function Became({ progress, onLeave }: { readonly progress: Progress; readonly onLeave: () => void }) {
  if (progress.is === 'under way') return <p className="quiet">{progress.text}…</p>;
  if (progress.is === 'failed') {
    const { status } = problemOf(progress.fault);
    return (
      <ProblemNote fault={progress.fault}>
        {status === 0 || status >= 500
          ? 'Whether it is halted is not known. Press again: halting twice does no harm.'
          : null}
      </ProblemNote>
    );
  }
  const { outcome, orders } = progress;
  return (
    <p className={outcome.tone === 'good' ? undefined : outcome.tone}>
      {outcome.text}{' '}
      {orders.map(({ order_id, symbol }) => (
        <Link
          key={order_id}
          to="/orders/$id"
          params={{ id: order_id } as never}
          className={styles.story}
          onClick={onLeave}
        >
          {symbol}
        </Link>
      ))}
    </p>
  );
}

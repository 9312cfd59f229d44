// Nothing has arrived yet: the next step is done from here, and the first signal is seen as it arrives.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { subscription } from '../../api/queries.ts';
import { Mark } from '../../parts/marks.tsx';
import { noteCopied } from '../../parts/memory.ts';
import { Page } from '../../parts/page.tsx';
import { FirstSignal } from './first-signal.tsx';
import { isRehearsal } from './first-steps.ts';
import { AllFirstSteps, type FirstStepsProps } from './first-steps.tsx';
import styles from './first-visit.module.css';
import { PaperAccountButton } from './paper-account.tsx';

/** Who buys a plan meanwhile gets its command without asking. */
const PLAN_MS = 5_000;

export function FirstVisit(props: FirstStepsProps) {
  const { accounts, hasExecuted } = props;
  // A copy is remembered by the browser, which tells nobody: the list has to be drawn again.
  const [, setCopies] = useState(0);
  // What plays comes first: nobody's first try moves real money.
  const account = accounts.find(({ broker }) => broker === 'paper') ?? accounts[0];
  const { data: plan, error } = useQuery({
    ...subscription,
    refetchInterval: PLAN_MS,
    // With the account comes the command, which is for the plan of that moment.
    enabled: account !== undefined,
  });
  // Not to be found out: what is simulated is taken on every plan.
  const known = plan ?? (error && { simulation_only: true });
  const isSimulated = account && known ? isRehearsal(account, known) : null;
  const answer = hasExecuted
    ? 'Your first signal is here'
    : account
      ? 'Send your first signal'
      : 'Open a paper account';
  return (
    <Page
      title={answer}
      answer={answer}
      facts={
        <span>
          {account
            ? isSimulated === false
              ? 'A paper account is ready: it fills at once, and no real money moves'
              : 'As a rehearsal: it is filled in the simulated book, and no real money moves'
            : 'It fills at once, and no real money moves. Connect a broker when you trust it.'}
        </span>
      }
    >
      <div className={`columns ${styles.first}`}>
        <AllFirstSteps {...props} />
        {account ? (
          <FirstSignal
            key={account.id}
            account={account}
            isSimulated={isSimulated}
            onCopied={() => {
              noteCopied(account.id);
              setCopies((count) => count + 1);
            }}
          />
        ) : (
          <NoAccount />
        )}
      </div>
    </Page>
  );
}

function NoAccount() {
  return (
    <section className="section">
      <h2>The first signal</h2>
      <p className={styles.lead}>
        It needs an account to arrive at. A paper account takes one click; its message then appears here, with
        the address and the secret filled in.
      </p>
      <PaperAccountButton className="button primary">Open a paper account</PaperAccountButton>
      <p className={styles.waiting}>
        <Mark name="placed" />
        <span className="quiet">Then this page waits for your first signal.</span>
      </p>
    </section>
  );
}

// Nothing has arrived yet: the next step is done from here, and the first signal is seen as it arrives.

import { useState } from 'react';
import { Mark } from '../../parts/marks.tsx';
import { noteCopied } from '../../parts/memory.ts';
import { Page } from '../../parts/page.tsx';
import { FirstSignal } from './first-signal.tsx';
import { AllFirstSteps, type FirstStepsProps } from './first-steps.tsx';
import styles from './first-visit.module.css';
import { PaperAccountButton } from './paper-account.tsx';

export function FirstVisit(props: FirstStepsProps) {
  const { accounts, overview } = props;
  // A copy is remembered by the browser, which tells nobody: the list has to be drawn again.
  const [, setCopies] = useState(0);
  // What plays comes first: nobody's first try moves real money.
  const account = accounts.find(({ broker }) => broker === 'paper') ?? accounts[0];
  const hasSignal = overview.accounts.some(({ last_signal_at }) => last_signal_at !== null);
  const answer = hasSignal
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
            ? account.broker === 'paper'
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

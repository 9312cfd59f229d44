// The checklist that ticks itself off: all of it on the first visit, and what is left of it on the usual page, until all is
// done or it is put away.

import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Mark } from '../../parts/marks.tsx';
import { arePutAway, isCopied, putAway } from '../../parts/memory.ts';
import { Section } from '../../parts/page.tsx';
import { firstSteps, type Step } from './first-steps.ts';
import styles from './first-visit.module.css';
import { PaperAccountButton } from './paper-account.tsx';
import { TermsDialog } from './terms-dialog.tsx';

export interface FirstStepsProps {
  readonly overview: Schemas['Overview'];
  readonly accounts: readonly Schemas['Account'][];
  readonly session: Schemas['OwnSession'];
  readonly hasExecuted: boolean;
}

/** On the usual page. Whoever trades real money, or rehearses on purpose, is not taught any more. */
export function FirstSteps(props: FirstStepsProps) {
  const [isAway, setAway] = useState(arePutAway);
  const steps = firstSteps({ ...props, isMessageCopied: true });
  const isOver = steps.every(({ name, state }) => name === 'guards' || state === 'ticked');
  if (isAway || isOver || props.overview.accounts.some(({ real_money }) => real_money)) return null;
  return (
    <Checklist
      {...props}
      steps={steps}
      isRest
      more={
        <button
          type="button"
          className="link"
          onClick={() => {
            putAway();
            setAway(true);
          }}
        >
          Hide this list
        </button>
      }
    />
  );
}

export function AllFirstSteps(props: FirstStepsProps) {
  const [account] = props.accounts;
  return (
    <Checklist
      {...props}
      steps={firstSteps({ ...props, isMessageCopied: account !== undefined && isCopied(account.id) })}
    />
  );
}

function Checklist({
  steps,
  more,
  isRest = false,
  accounts,
}: FirstStepsProps & {
  readonly steps: readonly Step[];
  readonly more?: ReactNode;
  /** What is done is not told again. */
  readonly isRest?: boolean;
}) {
  const shown = isRest ? steps.filter(({ state }) => state !== 'ticked') : steps;
  const ticked = steps.filter(({ state }) => state === 'ticked').length;
  return (
    <Section
      title="To the first real order"
      more={
        <>
          <span className="quiet">
            {ticked} of {steps.length}
          </span>{' '}
          {more}
        </>
      }
    >
      <ol className={isRest ? `${styles.steps} ${styles.rest}` : styles.steps}>
        {shown.map((step) => (
          <li
            key={step.name}
            className={styles[step.state]}
            aria-current={step.state === 'now' ? 'step' : undefined}
          >
            <Mark name={step.state === 'ticked' ? 'passed' : step.state === 'now' ? 'executing' : 'placed'} />
            <div>
              <h3>
                {step.title}
                <span className="unseen">{step.state === 'ticked' ? ', done' : ', to do'}</span>
              </h3>
              <p>
                {step.state !== 'ticked' && <StepLink step={step} accounts={accounts} />}
                {step.words}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Whatever can be done is done from here. */
function StepLink({
  step: { name },
  accounts: [account],
}: {
  readonly step: Step;
  readonly accounts: FirstStepsProps['accounts'];
}) {
  const [isOpen, setOpen] = useState(false);
  switch (name) {
    case 'terms':
      return (
        <>
          <button type="button" className="link" onClick={() => setOpen(true)}>
            Read and accept them
          </button>{' '}
          {isOpen && <TermsDialog onClose={() => setOpen(false)} />}
        </>
      );
    case 'account':
      return (
        <>
          <PaperAccountButton className="link">Open one</PaperAccountButton>
          {': '}
        </>
      );
    case 'broker':
      return (
        <>
          <Link to="/accounts">Connect one</Link>
          {': '}
        </>
      );
    case 'guards':
      return (
        <>
          {account ? (
            <Link to="/accounts/$id" params={{ id: account.id }}>
              Set them
            </Link>
          ) : (
            <Link to="/accounts">Set them</Link>
          )}{' '}
        </>
      );
    case 'second_factor':
      return (
        <>
          <Link to="/security">Set it up</Link>{' '}
        </>
      );
    default:
      return null;
  }
}

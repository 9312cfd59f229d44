// What would become of a message, before it is sent: pasted here, read as one of the accounts would, and nothing done.

import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { accounts } from '../../api/queries.ts';
import { Page, Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { clockTime } from '../../parts/when.tsx';
import styles from './check.module.css';
import { Corrected } from './corrected.tsx';
import { Layers } from './layers.tsx';
import { MessageLines } from './message-lines.tsx';
import { Paste, ReadAs, type Wish } from './paste.tsx';
import { Plan } from './plan.tsx';
import { verdictOn } from './words.ts';

function useCheck() {
  return useMutation({
    async mutationFn(wish: Wish) {
      const { message, accountId, simulation } = wish;
      const checked = await read(
        api.POST('/trading/accounts/{id}/check', {
          params: { path: { id: accountId } },
          body: { message, simulation },
        }),
      );
      return { checked, wish, at: serverNow() };
    },
    // The message may have a secret in it.
    gcTime: 0,
  });
}

export default function Check() {
  const { account } = useSearch({ strict: false }) as { account?: string };
  const { data: all, error, refetch } = useQuery(accounts);
  const [wish, setWish] = useState<Omit<Wish, 'accountId'> & { readonly accountId: string | null }>({
    message: '',
    accountId: account ?? null,
    simulation: false,
  });
  const check = useCheck();
  // It stays while another account's or mode's is on its way.
  const [result, setResult] = useState<typeof check.data | null>(null);
  if (!all || all.length === 0)
    return (
      <Page title="Signal check" answer="Paste a message, see what would become of it">
        {error ? (
          <ProblemNote fault={error} onAgain={refetch} />
        ) : all ? (
          <p>
            A message is read the way one of your accounts would read it.{' '}
            <Link to="/accounts">Make a paper account first</Link>: it takes one click.
          </p>
        ) : (
          <Skeleton rows={6} />
        )}
      </Page>
    );
  const shown = all.find(({ id }) => id === wish.accountId) ?? all[0];
  if (!shown) return null;
  const whole: Wish = { ...wish, accountId: shown.id };
  const ask = (asked: Wish) => {
    setWish(asked);
    check.mutate(asked, { onSuccess: setResult });
  };
  // Another account or mode asks again; another message waits for the button.
  const change = (part: Partial<Wish>) => (result ? ask : setWish)({ ...whole, ...part });
  const run = (message: string) => ask({ ...whole, message });

  if (!result)
    return (
      <Page
        title="Signal check"
        answer={
          <>
            Paste a message: <span className="quiet">see what would become of it</span>
          </>
        }
        facts={<span>Nothing is sent, counted or remembered here</span>}
      >
        <Paste
          wish={whole}
          all={all}
          isBusy={check.isPending}
          change={change}
          run={run}
          fault={check.error}
        />
      </Page>
    );

  // Of what was asked, not of what is chosen by now: another account's verdict may be on its way, or never come.
  const { checked, wish: asked, at } = result;
  const { message } = asked;
  const readAs = all.find(({ id }) => id === asked.accountId);
  const { matters, rest } = verdictOn(checked);
  return (
    <Page
      title="Signal check"
      answer={
        <>
          {matters} <span className="quiet">{rest}</span>
        </>
      }
      facts={
        <>
          <span>Nothing is sent, counted or remembered here</span>
          <span>
            read as {readAs?.name ?? 'an account that is deleted'}
            {asked.simulation && ', simulated'}, at {clockTime(new Date(at))}
          </span>
        </>
      }
    >
      <div className="columns even">
        <Section
          title="Your message"
          more={checked.service && <span className="quiet">written for {checked.service}</span>}
        >
          <MessageLines message={message} checked={checked} />
          <div className={styles.under}>
            <button type="button" className="button" onClick={() => setResult(null)}>
              Paste another
            </button>
            <ReadAs wish={whole} all={all} change={change} />
          </div>
          {check.error && <ProblemNote fault={check.error} />}
        </Section>
        <Layers message={message} checked={checked} />
      </div>
      <div className="columns even">
        {checked.corrected !== null && readAs && (
          <Corrected
            message={message}
            checked={checked}
            corrected={checked.corrected}
            account={readAs}
            onTry={run}
          />
        )}
        {checked.understood !== null && readAs && (
          <Plan checked={checked} account={readAs} simulation={asked.simulation} />
        )}
      </div>
    </Page>
  );
}

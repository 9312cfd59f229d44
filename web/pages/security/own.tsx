// What is the user's own: the plan and its limits, the password, how the pages look, and the way out.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { logOut } from '../../api/client.ts';
import { ownSession, subscription } from '../../api/queries.ts';
import { leave } from '../../api/session.ts';
import { hangUp } from '../../live/stream.ts';
import { counted, figure } from '../../parts/numbers.ts';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { dayOf } from '../../parts/when.tsx';
import { chooseTheme, chosenTheme, type Theme } from '../../theme/theme.ts';
import { Password } from './password.tsx';
import styles from './security.module.css';

export function Own() {
  const { data: session } = useQuery(ownSession);
  return (
    <div className="columns even">
      <Plan />
      <Section title="You">
        <dl className={`rows ${styles.rows}`}>
          <div>
            <dt>Logged in as</dt>
            <dd>{session?.user.email}</dd>
            <dd>
              <Logout />
            </dd>
          </div>
          <div>
            <dt>Somebody was in?</dt>
            <dd className="quiet">
              End every session, API key and known device, and pause notifications; webhooks go on.
            </dd>
            <dd>
              <LogoutEverywhere />
            </dd>
          </div>
          {session && <Password email={session.user.email} hasSecondFactor={session.totp_enabled} />}
          <div>
            <dt id="theme">Theme</dt>
            <dd>
              <ThemeChoice />
            </dd>
          </div>
        </dl>
      </Section>
    </div>
  );
}

function useLogout({ everywhere = false } = {}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn() {
      hangUp();
      return logOut({ everywhere });
    },
    async onSuccess() {
      leave();
      // Away from here first: what stands on a page would ask for itself anew.
      await navigate({ to: '/login' });
      queries.clear();
    },
  });
}

function Logout() {
  const logout = useLogout();
  return (
    <>
      {logout.error && <ProblemNote fault={logout.error} />}
      <button type="button" className="button" disabled={logout.isPending} onClick={() => logout.mutate()}>
        Log out
      </button>
    </>
  );
}

/** It ends programs too: the second press says what happens. */
function LogoutEverywhere() {
  const [isAsking, setAsking] = useState(false);
  const logout = useLogout({ everywhere: true });
  if (!isAsking)
    return (
      <button type="button" className="link" onClick={() => setAsking(true)}>
        Log out everywhere…
      </button>
    );
  return (
    <span className={styles.sure}>
      {logout.error && <ProblemNote fault={logout.error} />}
      <button type="button" className="link" disabled={logout.isPending} onClick={() => logout.mutate()}>
        End all of them, this session too
      </button>
      <button type="button" className="link quiet" onClick={() => setAsking(false)}>
        Keep
      </button>
    </span>
  );
}

const THEMES: readonly { readonly theme: Theme; readonly name: string }[] = [
  { theme: 'system', name: 'as the system' },
  { theme: 'light', name: 'light' },
  { theme: 'dark', name: 'dark' },
];

function ThemeChoice() {
  const [chosen, setChosen] = useState(chosenTheme);
  return (
    <div className={styles.themes} role="radiogroup" aria-labelledby="theme">
      {THEMES.map(({ theme, name }) => (
        <label key={theme}>
          <input
            type="radio"
            name="theme"
            checked={chosen === theme}
            onChange={() => {
              chooseTheme(theme);
              setChosen(theme);
            }}
          />
          {name}
        </label>
      ))}
    </div>
  );
}

function Plan() {
  const { data: plan, error, refetch } = useQuery(subscription);
  return (
    <Section title="Plan">
      {error ? (
        <ProblemNote fault={error} onAgain={refetch} />
      ) : plan ? (
        <dl className={`rows ${styles.rows}`}>
          <div>
            <dt>Plan</dt>
            <dd>
              <b>{plan.plan}</b>
              {plan.effective_plan !== plan.plan && (
                <span className="act">, ended: it works as {plan.effective_plan}</span>
              )}
              {plan.expires_at && (
                <span className="quiet">
                  {plan.effective_plan === plan.plan ? ', until ' : ' since '}
                  {dayOf(new Date(plan.expires_at))}
                </span>
              )}
            </dd>
          </div>
          <div>
            <dt>Trades</dt>
            <dd>{plan.simulation_only ? 'simulated orders only' : 'real and simulated orders'}</dd>
          </div>
          <div>
            <dt>Today</dt>
            <dd>
              {counted(plan.orders_today, 'order')}
              {plan.daily_orders === null ? ', no limit' : ` of ${figure(plan.daily_orders)}`}
              <span className="quiet">
                , {figure(plan.simulated_today)} simulated; days are counted in UTC
              </span>
            </dd>
          </div>
        </dl>
      ) : (
        <Skeleton rows={3} />
      )}
    </Section>
  );
}

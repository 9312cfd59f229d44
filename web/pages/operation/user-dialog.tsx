// One user: the plan, whether anybody gets in, and the sessions. Each button says what will happen.

import { type UseMutationResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { counted } from '../../parts/numbers.ts';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { When } from '../../parts/when.tsx';
import styles from './operation.module.css';
import { plans as plansQuery, user as userQuery } from './questions.ts';
import { activeSentence, changeOf, planButton, planSentence, wishOf } from './words.ts';

type User = Schemas['UserWithSessions'];
type Change = Parameters<typeof patch>[1];

const patch = (id: string, change: { is_active?: boolean; plan?: string; plan_expires_at?: string | null }) =>
  read(api.PATCH('/deployment/users/{id}', { params: { path: { id } }, body: change }));

interface UserDialogProps {
  readonly id: string;
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

export function UserDialog({ id, isOwn, onClose }: UserDialogProps) {
  const client = useQueryClient();
  const { data: user, error, refetch } = useQuery(userQuery(id));
  const change = useMutation({
    mutationFn: (wish: Change) => patch(id, wish),
    onSuccess: () => client.invalidateQueries({ queryKey: ['deployment', 'users'] }),
  });
  return (
    <Dialog title={user?.email ?? 'A user'} onClose={onClose}>
      {error && <ProblemNote fault={error} onAgain={refetch} />}
      {!user && !error && <Skeleton rows={6} />}
      {user && (
        <>
          <PlanForm key={`${user.plan} ${user.plan_expires_at}`} user={user} change={change} />
          {change.error && <ProblemNote fault={change.error} />}
          {!isOwn && (
            <section className={styles.part}>
              <h3>{user.is_active ? 'Deactivate' : 'Activate'}</h3>
              <p>{activeSentence(user)}</p>
              <p className={styles.buttons}>
                <button
                  type="button"
                  className="button"
                  disabled={change.isPending}
                  onClick={() => change.mutate({ is_active: !user.is_active })}
                >
                  {user.is_active ? `Deactivate ${user.email}` : `Activate ${user.email}`}
                </button>
              </p>
            </section>
          )}
          <Sessions user={user} isOwn={isOwn} />
        </>
      )}
    </Dialog>
  );
}

interface PlanFormProps {
  readonly user: User;
  readonly change: UseMutationResult<unknown, Error, Change>;
}

function PlanForm({ user, change }: PlanFormProps) {
  const { data: plans } = useQuery(plansQuery);
  const [wish, setWish] = useState(() => wishOf(user));
  const wanted = changeOf(user, wish);
  const names = plans?.items.map(({ name }) => name) ?? [];
  return (
    <form
      className={styles.part}
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted) change.mutate(wanted);
      }}
    >
      <h3>Plan</h3>
      <div className={styles.fields}>
        <label>
          Plan
          <select
            data-first
            value={wish.plan}
            onChange={({ target }) => setWish({ ...wish, plan: target.value })}
          >
            {/* A plan that the configuration no longer knows can be seen, and not be given. */}
            {!names.includes(user.plan) && <option value={user.plan}>{user.plan}</option>}
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Last day (UTC), or none
          <input
            type="date"
            value={wish.until}
            onChange={({ target }) => setWish({ ...wish, until: target.value })}
          />
        </label>
      </div>
      {wanted ? (
        <>
          <p>{planSentence(user, wish, plans?.items ?? [], serverNow())}</p>
          <p className={styles.buttons}>
            <button type="submit" className="button primary" disabled={change.isPending}>
              {planButton(user, wish)}
            </button>
          </p>
        </>
      ) : (
        <p className="quiet">{change.isSuccess ? 'Saved.' : 'No change to save.'}</p>
      )}
    </form>
  );
}

function Sessions({ user, isOwn }: { readonly user: User; readonly isOwn: boolean }) {
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: async (ids: readonly string[]) => {
      for (const id of ids) await read(api.DELETE('/deployment/sessions/{id}', { params: { path: { id } } }));
    },
    // Also after a fault: some may have ended.
    onSettled: () => client.invalidateQueries({ queryKey: ['deployment', 'users'] }),
  });
  const ids = user.sessions.map(({ id }) => id);
  return (
    <section className={styles.part}>
      <h3>{ids.length === 0 ? 'No session' : counted(ids.length, 'session')}</h3>
      <ul className={styles.sessions}>
        {user.sessions.map((session) => (
          <li key={session.id}>
            <span>
              {session.ip_address}, since <When at={session.created_at} />
              <small className={styles.agent} title={session.user_agent}>
                {session.user_agent}
              </small>
            </span>
            <button
              type="button"
              className="link"
              disabled={end.isPending}
              aria-label={`End the session from ${session.ip_address}`}
              onClick={() => end.mutate([session.id])}
            >
              End
            </button>
          </li>
        ))}
      </ul>
      {end.error && <ProblemNote fault={end.error} />}
      {ids.length > 0 && (
        <>
          <p>
            Whoever uses such a session is logged out at the next request, and has to log in again. API keys
            and webhooks keep working.{isOwn && ' The session that you use now is among them.'}
          </p>
          <p className={styles.buttons}>
            <button type="button" className="button" disabled={end.isPending} onClick={() => end.mutate(ids)}>
              {ids.length === 1 ? 'End the session' : `End all ${counted(ids.length, 'session')}`} of{' '}
              {user.email}
            </button>
          </p>
        </>
      )}
    </section>
  );
}

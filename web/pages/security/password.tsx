// The password: a new one for whoever knows the old one; by mail for whoever does not.

import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { sessions } from './questions.ts';
import styles from './security.module.css';

interface PasswordProps {
  readonly email: string;
  /** Then a code is asked for too. */
  readonly hasSecondFactor: boolean;
}

export function Password({ email, hasSecondFactor }: PasswordProps) {
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState('');
  return (
    <div>
      <dt>Password</dt>
      <dd>
        {isOpen ? (
          <ChangeForm
            email={email}
            hasSecondFactor={hasSecondFactor}
            onEnd={(words) => {
              setOpen(false);
              setSaid(words);
            }}
          />
        ) : (
          <span role="status">{said}</span>
        )}
      </dd>
      <dd>
        {!isOpen && (
          <button type="button" className="link" onClick={() => setOpen(true)}>
            Change it
          </button>
        )}
      </dd>
    </div>
  );
}

/** Who found an open page does not take the account with it: the old password is asked for. */
function ChangeForm({ email, hasSecondFactor, onEnd }: PasswordProps & { onEnd(words: string): void }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const readAgain = useReadAgain();
  const change = useMutation({
    mutationFn: () =>
      read(
        api.POST('/auth/password', {
          body: { current_password: current, password, ...(hasSecondFactor ? { code } : {}) },
        }),
      ),
    onSuccess: () => onEnd('Your password is changed. Every other session has ended; API keys keep working.'),
    onSettled: () => readAgain(sessions.queryKey),
  });
  const link = useMutation({
    mutationFn: () => read(api.POST('/auth/forgot-password', { body: { email } })),
    onSuccess: () =>
      onEnd(
        'A link is on its way. It works once, for 30 minutes; setting a password with it ends all sessions and revokes all keys.',
      ),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  const fault = change.error ?? link.error;
  return (
    <form className={styles.password} onSubmit={submit}>
      <label>
        Current password
        <input
          type="password"
          autoComplete="current-password"
          required
          // It was asked for.
          // biome-ignore lint/a11y/noAutofocus: the button that opened it is gone
          autoFocus
          value={current}
          onChange={({ target }) => setCurrent(target.value)}
        />
      </label>
      <label>
        New password
        <input
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
      </label>
      {hasSecondFactor && (
        <label>
          Code from your app
          <input
            autoComplete="one-time-code"
            required
            value={code}
            onChange={({ target }) => setCode(target.value)}
          />
        </label>
      )}
      {fault && <ProblemNote fault={fault} />}
      <div className={styles.choices}>
        <button type="submit" className="button primary" disabled={change.isPending}>
          Set it and end other sessions
        </button>
        <button type="button" className="link" disabled={link.isPending} onClick={() => link.mutate()}>
          I do not know the current one
        </button>
        <button type="button" className="link quiet" onClick={() => onEnd('')}>
          Not now
        </button>
      </div>
    </form>
  );
}

// A new password, by the link from the mail. Whoever has its token has the account: it leaves the address bar before
// anything is drawn, so that it stands in no history and in no Referer.

import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { forget } from '../../api/session.ts';
import { Outside } from '../../parts/outside.tsx';
import { useTitle } from '../../parts/page.tsx';
import styles from './enter.module.css';
import type { Arrival } from './entry.ts';
import { Field, refusalAt } from './form.tsx';

/** A second drawing finds the address clean already. */
let token = '';

function takeToken(): string {
  const given = new URLSearchParams(location.search).get('token');
  if (given === null) return token;
  token = given;
  history.replaceState(history.state, '', location.pathname);
  return token;
}

export default function ResetPassword() {
  useTitle('A new password');
  const [taken] = useState(takeToken);
  return (
    <Outside links={<Link to="/login">Log in</Link>}>
      {taken ? <NewPassword token={taken} /> : <NoLink />}
    </Outside>
  );
}

function NoLink() {
  return (
    <section className={styles.form}>
      <h1 className="answer">This page needs the link from the mail</h1>
      <p>
        Open that link again, or <Link to="/forgot-password">ask for another</Link>.
      </p>
    </section>
  );
}

function NewPassword({ token: link }: { readonly token: string }) {
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  const reset = useMutation({
    mutationFn: () => read(api.POST('/auth/reset-password', { body: { token: link, password } })),
    onSuccess() {
      token = '';
      // It ended all sessions, this browser's too.
      forget();
      const state: Arrival = { said: 'password_set' };
      void navigate({ to: '/login', replace: true, state: state as never });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    reset.mutate();
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <h1 className="answer">A new password</h1>
      <p>It ends all your sessions and revokes your API keys. Your webhooks keep working.</p>
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        required
        autoFocus
        hint="8 to 256 characters, and not a common password. No other rules."
        value={password}
        onChange={({ target }) => setPassword(target.value)}
        refusal={refusalAt(reset.error, 'password')}
      />
      {refusalAt(reset.error, 'form', 'email', 'code', 'challenge')}
      <button type="submit" className={`button primary ${styles.submit}`} disabled={reset.isPending}>
        Set it and end all sessions
      </button>
      <p>
        Has the link been used up? <Link to="/forgot-password">Ask for another</Link>.
      </p>
    </form>
  );
}

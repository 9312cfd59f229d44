// An address, confirmed by the link from the mail. By a press: programs that look into mails open links, too. The token
// leaves the address bar before anything is drawn.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read } from '../../api/client.ts';
import { Outside } from '../../parts/outside.tsx';
import { useTitle } from '../../parts/page.tsx';
import styles from './enter.module.css';
import { refusalAt } from './form.tsx';

/** A second drawing finds the address clean already. */
let token = '';

function takeToken(): string {
  const given = new URLSearchParams(location.search).get('token');
  if (given === null) return token;
  token = given;
  history.replaceState(history.state, '', location.pathname);
  return token;
}

export default function VerifyEmail() {
  useTitle('Confirm your address');
  const [taken] = useState(takeToken);
  return (
    <Outside links={<Link to="/login">Log in</Link>}>
      {taken ? <Confirmation token={taken} /> : <NoLink />}
    </Outside>
  );
}

function NoLink() {
  return (
    <section className={styles.form}>
      <h1 className="answer">This page needs the link from the mail</h1>
      <p>
        Open that link again, or <Link to="/login">log in</Link> and ask for another.
      </p>
    </section>
  );
}

function Confirmation({ token: link }: { readonly token: string }) {
  const queries = useQueryClient();
  const confirm = useMutation({
    mutationFn: () => read(api.POST('/auth/verify-email', { body: { token: link } })),
    onSuccess() {
      token = '';
      queries.clear();
    },
  });
  if (confirm.isSuccess)
    return (
      <section className={styles.form} role="status">
        <h1 className="answer">Your address is confirmed</h1>
        <p>
          <Link to="/">Go on to Today</Link>
        </p>
      </section>
    );
  return (
    <section className={styles.form}>
      <h1 className="answer">Confirm your address</h1>
      <p>If you did not register, close this page: nothing happens.</p>
      {refusalAt(confirm.error, 'form', 'email', 'password', 'code', 'challenge')}
      <button
        type="button"
        className={`button primary ${styles.submit}`}
        disabled={confirm.isPending}
        onClick={() => confirm.mutate()}
      >
        The address is mine
      </button>
    </section>
  );
}

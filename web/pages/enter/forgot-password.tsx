// A link for a new password. The answer is the same for an address that nobody has: the page says no more than that.

import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { publicConfig } from '../../api/queries.ts';
import { Outside } from '../../parts/outside.tsx';
import { useTitle } from '../../parts/page.tsx';
import styles from './enter.module.css';
import { Field, refusalAt } from './form.tsx';

export default function ForgotPassword() {
  useTitle('Forgot the password');
  const { data: config } = useQuery(publicConfig);
  const [email, setEmail] = useState('');
  const ask = useMutation({ mutationFn: () => read(api.POST('/auth/forgot-password', { body: { email } })) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask.mutate();
  };
  return (
    <Outside links={<Link to="/login">Log in</Link>}>
      {ask.isSuccess ? (
        <section className={styles.form} role="status">
          <h1 className="answer">{config?.mail === false ? 'Ask your operator' : 'Check your mail'}</h1>
          <p>
            If <b>{email}</b> is registered here, a link is{' '}
            {config?.mail === false ? 'in the outbox of the operator' : 'on its way'}. It works once, for 30
            minutes. The old password works until the new one is set.
          </p>
          <p>
            {config?.mail === false ? 'There is none? Then ' : 'Nothing came? Look in your spam folder, or '}
            <button type="button" className="link" onClick={() => ask.reset()}>
              try another address
            </button>
            .
          </p>
        </section>
      ) : (
        <form className={styles.form} onSubmit={submit}>
          <h1 className="answer">A new password</h1>
          <p>
            {config?.mail === false
              ? 'This service has no mail server: the link becomes a file in the outbox of its operator. Ask them for it.'
              : 'We send you a link to set it.'}
          </p>
          <Field
            label="Email"
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={email}
            onChange={({ target }) => setEmail(target.value)}
            refusal={refusalAt(ask.error, 'email')}
          />
          {refusalAt(ask.error, 'form', 'password', 'code', 'challenge')}
          <button type="submit" className={`button primary ${styles.submit}`} disabled={ask.isPending}>
            Send me the link
          </button>
        </form>
      )}
    </Outside>
  );
}

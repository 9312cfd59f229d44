// A new user: who they are, what they accept; then they are in.

import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { Outside } from '../../parts/outside.tsx';
import { useTitle } from '../../parts/page.tsx';
import styles from './enter.module.css';
import { useEntry } from './entry.ts';
import { Field, refusalAt } from './form.tsx';
import { publishedTerms } from './terms-query.ts';

export default function Register() {
  useTitle('Register');
  const search = useSearch({ strict: false });
  return (
    <Outside
      links={
        <Link to="/login" search={search as never}>
          Log in
        </Link>
      }
    >
      <Registration />
    </Outside>
  );
}

function Registration() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [accepts, setAccepts] = useState(false);
  const terms = useQuery(publishedTerms);
  const enterWith = useEntry();
  const register = useMutation({
    async mutationFn() {
      await read(
        api.POST('/auth/register', { body: { email, password, ...(accepts ? { accept_terms: true } : {}) } }),
      );
      return read(api.POST('/auth/login', { body: { email, password } }));
    },
    onSuccess(answer) {
      if ('csrf_token' in answer) enterWith(answer.csrf_token);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    register.mutate();
  };
  return (
    <form className={`${styles.form} ${styles.wide}`} onSubmit={submit}>
      <h1 className="answer">Register</h1>
      <Field
        label="Email"
        type="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onChange={({ target }) => setEmail(target.value)}
        refusal={refusalAt(register.error, 'email')}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="new-password"
        required
        hint="8 to 256 characters, not among the common ones. No other rules."
        value={password}
        onChange={({ target }) => setPassword(target.value)}
        refusal={refusalAt(register.error, 'password')}
      />
      {terms.data && (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard too */}
          <section className={styles.terms} aria-label="The terms" tabIndex={0}>
            {terms.data.text}
          </section>
          <label className={styles.accept}>
            <input type="checkbox" checked={accepts} onChange={({ target }) => setAccepts(target.checked)} />
            <span>
              I accept the terms, version {terms.data.version}.{' '}
              <span className="quiet">Without them you can look around and simulate, but not trade.</span>
            </span>
          </label>
        </>
      )}
      {refusalAt(register.error, 'form', 'code', 'challenge')}
      <button type="submit" className={`button primary ${styles.submit}`} disabled={register.isPending}>
        {register.isPending ? 'Registering' : 'Register'}
      </button>
    </form>
  );
}

// A new user: who they are, what they accept; then they are in.

import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { publicConfig } from '../../api/queries.ts';
import { Outside } from '../../parts/outside.tsx';
import { useTitle } from '../../parts/page.tsx';
import { useChallenge } from './challenge.tsx';
import styles from './enter.module.css';
import { type Arrival, useEntry } from './entry.ts';
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
  const config = useQuery(publicConfig);
  const enterWith = useEntry();
  const challenge = useChallenge('register');
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const register = useMutation({
    async mutationFn() {
      const consent = accepts ? { accept_terms: true } : {};
      await read(api.POST('/auth/register', { body: { email, password, ...consent, ...challenge.answer } }));
      // Where a challenge is asked for, the login asks for one of its own; whatever else keeps it from
      // happening here, the user is registered and can do it there.
      return challenge.widget
        ? null
        : read(api.POST('/auth/login', { body: { email, password } })).catch(() => null);
    },
    onError: challenge.again,
    onSuccess(answer) {
      if (answer && 'csrf_token' in answer) return enterWith(answer.csrf_token);
      const said = config.data?.verify_email ? 'check_mail' : 'registered';
      const state: Arrival = { email, said };
      void navigate({ to: '/login', search: search as never, state: state as never });
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
        hint={config.data?.verify_email ? 'A link is mailed there, to confirm that it is yours.' : undefined}
        value={email}
        onChange={({ target }) => setEmail(target.value)}
        refusal={refusalAt(register.error, 'email')}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="new-password"
        required
        hint="8 to 256 characters, and not a common password. No other rules."
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
      {challenge.widget}
      {refusalAt(register.error, 'form', 'code', 'challenge')}
      <button
        type="submit"
        className={`button primary ${styles.submit}`}
        disabled={register.isPending || challenge.isOpen}
      >
        {register.isPending ? 'Registering' : 'Register'}
      </button>
    </form>
  );
}

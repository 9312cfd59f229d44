// The way in. A user with a second factor has two steps, on one page: the first is not asked for again.

import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { publicConfig } from '../../api/queries.ts';
import { Outside } from '../../parts/outside.tsx';
import { useTitle } from '../../parts/page.tsx';
import { useChallenge } from './challenge.tsx';
import styles from './enter.module.css';
import { type Arrival, useEntry, useWayOn } from './entry.ts';
import { Field, refusalAt } from './form.tsx';
import { SecondStep } from './second-step.tsx';
import { placeInWords } from './ways.ts';

export default function Login() {
  useTitle('Log in');
  const search = useSearch({ strict: false });
  const [asked, setAsked] = useState<Schemas['TotpAsked'] | null>(null);
  return (
    <Outside
      links={
        <Link to="/register" search={search as never}>
          Register
        </Link>
      }
    >
      {asked ? <SecondStep asked={asked} onAgain={() => setAsked(null)} /> : <FirstStep onAsked={setAsked} />}
    </Outside>
  );
}

const ARRIVALS: Readonly<Record<NonNullable<Arrival['said']>, string>> = {
  registered: 'You are registered. Log in to begin.',
  check_mail:
    'Check your mail: a link that confirms your address is on its way. Log in once you have followed it.',
  password_set:
    'The new password is set. All sessions have ended, and all API keys are revoked. Security says what to replace.',
};

function FirstStep({ onAsked }: { readonly onAsked: (asked: Schemas['TotpAsked']) => void }) {
  const arrival = useLocation().state as Arrival;
  const [email, setEmail] = useState(arrival.email ?? '');
  const [password, setPassword] = useState('');
  const enterWith = useEntry();
  const config = useQuery(publicConfig);
  const challenge = useChallenge('login');
  const login = useMutation({
    mutationFn: (who: { email: string; password: string }) =>
      read(api.POST('/auth/login', { body: { ...who, ...challenge.answer } })),
    onError: challenge.again,
    onSuccess(answer) {
      if ('totp_required' in answer) onAsked(answer);
      else enterWith(answer.csrf_token);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    login.mutate({ email, password });
  };
  // Only a demo tells how to log in to it.
  const demo = config.data?.demo;
  return (
    <form className={styles.form} onSubmit={submit}>
      <h1 className="answer">Log in</h1>
      {arrival.said && <p role="status">{ARRIVALS[arrival.said]}</p>}
      <Field
        label="Email"
        type="email"
        autoComplete="username"
        required
        autoFocus={!arrival.email}
        value={email}
        onChange={({ target }) => setEmail(target.value)}
        refusal={refusalAt(login.error, 'email')}
      />
      <Field
        label="Password"
        aside={<Link to="/forgot-password">Forgot it</Link>}
        type="password"
        autoComplete="current-password"
        required
        autoFocus={!!arrival.email}
        value={password}
        onChange={({ target }) => setPassword(target.value)}
        refusal={refusalAt(login.error, 'password')}
      />
      {challenge.widget}
      {refusalAt(login.error, 'form', 'code', 'challenge')}
      <button
        type="submit"
        className={`button primary ${styles.submit}`}
        disabled={login.isPending || challenge.isOpen}
      >
        {login.isPending ? 'Logging in' : 'Log in'}
      </button>
      {demo && (
        <>
          <button
            type="button"
            className={`button ${styles.submit}`}
            disabled={login.isPending || challenge.isOpen}
            onClick={() => login.mutate(demo)}
          >
            Look around as the demo user
          </button>
          <p>
            <span className="unreal">demo</span> Everything there is staged. No real money is involved.
          </p>
        </>
      )}
      <GoingTo />
    </form>
  );
}

function GoingTo() {
  const place = placeInWords(useWayOn());
  return (
    place && (
      <p>
        You were going to <b>{place}</b>; logging in takes you there.
      </p>
    )
  );
}

// The second step of a login: the authenticator's code, or a recovery code. It ends by itself after some minutes.

import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { useNow } from '../../parts/when.tsx';
import styles from './enter.module.css';
import { useEntry } from './entry.ts';
import { Field, Refusal } from './form.tsx';
import { codeRefusedAs, minutesLeft, typedCode } from './ways.ts';

interface SecondStepProps {
  readonly asked: Schemas['TotpAsked'];
  readonly onAgain: () => void;
}

export function SecondStep({ asked, onAgain }: SecondStepProps) {
  const [isRecovery, setRecovery] = useState(false);
  const [code, setCode] = useState('');
  const now = useNow();
  const [over] = useState(now + asked.expires_in * 1000);
  const isOver = now >= over;
  const enterWith = useEntry();
  const complete = useMutation({
    mutationFn: (typed: string) =>
      read(api.POST('/auth/login/totp', { body: { login_token: asked.login_token, code: typed } })),
    onSuccess: ({ csrf_token }) => enterWith(csrf_token),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    complete.mutate(code);
  };
  const change = (text: string) => setCode(isRecovery ? text : typedCode(text));
  const swap = () => {
    setRecovery(!isRecovery);
    setCode('');
    complete.reset();
  };
  const isWrong = complete.error !== null && problemOf(complete.error).code === 'login_code_wrong';
  return (
    <form className={styles.form} onSubmit={submit}>
      <h1 className="answer">The code, please</h1>
      <Field
        // Another field gets the focus of its own.
        key={isRecovery ? 'recovery' : 'app'}
        className={isRecovery ? styles.recovery : styles.code}
        label={isRecovery ? 'One of your recovery codes' : 'Six digits from your authenticator app'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        required
        autoFocus
        value={code}
        onChange={({ target }) => change(target.value)}
        refusal={
          complete.error !== null && (
            <Refusal fault={complete.error} as={isWrong ? codeRefusedAs(isRecovery) : undefined} />
          )
        }
      />
      <button
        type="submit"
        className={`button primary ${styles.submit}`}
        disabled={isOver || complete.isPending}
      >
        Go on
      </button>
      <p>
        {isRecovery ? 'Found your phone? ' : 'No phone at hand? '}
        <button type="button" className="link" onClick={swap}>
          {isRecovery ? 'Use the app’s code' : 'Use a recovery code'}
        </button>
        .{' '}
        <button type="button" className="link" onClick={onAgain}>
          Begin again
        </button>{' '}
        as somebody else.{' '}
        {isOver ? <b>This step has ended: begin again.</b> : `This step ends in ${minutesLeft(over - now)}.`}
      </p>
    </form>
  );
}

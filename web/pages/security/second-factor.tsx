// The second factor: off, being set up, just set up (with the recovery codes, once), on.

import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { encode } from 'uqr';
import { api, read, type Schemas } from '../../api/client.ts';
import { ownSession } from '../../api/queries.ts';
import { CopyButton, CopyMark } from '../../parts/copy.tsx';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import styles from './security.module.css';
import { inFours, pathOf } from './words.ts';

export function SecondFactor() {
  const { data: session } = useQuery(ownSession);
  const [enrolment, setEnrolment] = useState<Schemas['Enrolment'] | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  return (
    <Section title="Second factor">
      {codes ? (
        <RecoveryCodes codes={codes} onKept={() => setCodes(null)} />
      ) : enrolment ? (
        <Confirmation
          enrolment={enrolment}
          onCodes={(made) => {
            setEnrolment(null);
            setCodes(made);
          }}
          onStop={() => setEnrolment(null)}
        />
      ) : session?.totp_enabled === undefined ? (
        <Skeleton rows={3} />
      ) : session.totp_enabled ? (
        <TurnedOn />
      ) : (
        <TurnedOff onEnrolled={setEnrolment} />
      )}
    </Section>
  );
}

interface PasswordFormProps {
  readonly button: string;
  readonly isPending: boolean;
  readonly fault: unknown;
  readonly onPassword: (password: string) => void;
}

/** Who found an open page does not change how one logs in. */
function PasswordForm({ button, isPending, fault, onPassword }: PasswordFormProps) {
  const [password, setPassword] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPassword(password);
  };
  return (
    <>
      <form className={styles.add} onSubmit={submit}>
        <input
          type="password"
          aria-label="Your password"
          placeholder="Your password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
        <button type="submit" className="button" disabled={isPending}>
          {button}
        </button>
      </form>
      {fault !== null && <ProblemNote fault={fault} />}
    </>
  );
}

function TurnedOff({ onEnrolled }: { readonly onEnrolled: (enrolment: Schemas['Enrolment']) => void }) {
  const readAgain = useReadAgain();
  const enrol = useMutation({
    mutationFn: (password: string) => read(api.POST('/auth/totp/enrol', { body: { password } })),
    onSuccess: onEnrolled,
    onSettled: () => readAgain(),
  });
  return (
    <>
      <p className={styles.empty}>
        Off: whoever has your password can log in. With an authenticator app on your phone, they would need
        that too.
      </p>
      <PasswordForm
        button="Set it up"
        isPending={enrol.isPending}
        fault={enrol.error}
        onPassword={enrol.mutate}
      />
    </>
  );
}

function TurnedOn() {
  const readAgain = useReadAgain();
  const disable = useMutation({
    mutationFn: (password: string) => read(api.POST('/auth/totp/disable', { body: { password } })),
    onSettled: () => readAgain(ownSession.queryKey),
  });
  return (
    <>
      <p className={styles.empty}>
        On: every login asks for a code from your authenticator app, or for one of your recovery codes.
      </p>
      <PasswordForm
        button="Turn it off"
        isPending={disable.isPending}
        fault={disable.error}
        onPassword={disable.mutate}
      />
    </>
  );
}

interface ConfirmationProps {
  readonly enrolment: Schemas['Enrolment'];
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onStop: () => void;
}

function Confirmation({ enrolment, onCodes, onStop }: ConfirmationProps) {
  const [code, setCode] = useState('');
  const readAgain = useReadAgain();
  const confirm = useMutation({
    mutationFn: () => read(api.POST('/auth/totp/confirm', { body: { code: code.replace(/\s/g, '') } })),
    onSuccess({ recovery_codes }) {
      onCodes(recovery_codes);
    },
    onSettled: () => readAgain(ownSession.queryKey),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirm.mutate();
  };
  return (
    <div className={styles.factor}>
      <QrCode text={enrolment.otpauth_uri} />
      <ol>
        <li>
          Scan it with an authenticator app, or type <code>{inFours(enrolment.secret)}</code>
          <CopyMark text={enrolment.secret} what="the secret" />
        </li>
        <li>
          Type the code that it shows now:
          <form className={styles.add} onSubmit={submit}>
            <input
              className={styles.code}
              aria-label="The code"
              placeholder="000 000"
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              maxLength={7}
              value={code}
              onChange={({ target }) => setCode(target.value)}
            />
            <button type="submit" className="button primary" disabled={confirm.isPending}>
              Turn it on
            </button>
            <button type="button" className="link quiet" onClick={onStop}>
              Not now
            </button>
          </form>
          {confirm.error && <ProblemNote fault={confirm.error} />}
        </li>
        <li>Keep the ten recovery codes that follow. They are shown once.</li>
      </ol>
    </div>
  );
}

/** Dark on white in both themes: cameras expect it. */
function QrCode({ text }: { readonly text: string }) {
  const { data, size } = encode(text, { border: 0 });
  return (
    <svg
      className={styles.qr}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label="QR code for an authenticator app; its secret stands beside it as text"
    >
      <path d={pathOf(data)} />
    </svg>
  );
}

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onKept: () => void;
}

function RecoveryCodes({ codes, onKept }: RecoveryCodesProps) {
  return (
    <div className={`once ${styles.recovery}`} role="status">
      <p>
        <b>The second factor is on.</b> Keep these recovery codes somewhere other than your phone: each lets
        you in once without it. They are never shown again.
      </p>
      <ul>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles.choices}>
        <CopyButton text={codes.join('\n')} primary>
          Copy them
        </CopyButton>
        <button type="button" className="button" onClick={onKept}>
          I have kept them
        </button>
      </div>
    </div>
  );
}

// A new destination: what its kind needs, with where to find it. The secret of a webhook is shown once.

import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { type Choice, Choices } from './choices.tsx';
import styles from './notifications.module.css';
import { destinations } from './questions.ts';
import { KINDS, type Kind, kindInWords, USUAL } from './words.ts';

const FRESH: Choice = { events: USUAL, accountIds: null, summaryHour: 7 };
const NOTHING = { name: '', url: '', bot_token: '', chat_id: '' };

export function Add() {
  const readAgain = useReadAgain();
  const [kind, setKind] = useState<Kind>('telegram');
  const [given, setGiven] = useState(NOTHING);
  const [choice, setChoice] = useState(FRESH);
  const add = useMutation({
    mutationFn: () => {
      const { name, url, bot_token, chat_id } = given;
      const address =
        kind === 'telegram' ? { bot_token: bot_token.trim(), chat_id: chat_id.trim() } : { url: url.trim() };
      return read(
        api.POST('/settings/notifications', {
          body: {
            kind,
            name: name.trim() || kindInWords(kind),
            events: [...choice.events],
            trading_account_ids: choice.accountIds === null ? null : [...choice.accountIds],
            summary_hour: choice.summaryHour,
            ...address,
          },
        }),
      );
    },
    onSuccess: () => setGiven(NOTHING),
    onSettled: () => readAgain(destinations.queryKey),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  const field = (name: keyof typeof NOTHING) => ({
    name,
    value: given[name],
    onChange: (value: string) => setGiven({ ...given, [name]: value }),
  });
  return (
    <Section title="Add a destination" more={<span className="quiet">ten at the most</span>}>
      {add.data?.secret && (
        <div className="once" role="status">
          <p>
            <b>{add.data.name}</b> is added. Its signing secret; copy it now, it is never shown again:
            <br />
            <code>{add.data.secret}</code>
          </p>
          <CopyButton text={add.data.secret} primary>
            Copy
          </CopyButton>
        </div>
      )}
      <form onSubmit={submit} className={styles.add} autoComplete="off">
        <fieldset className={styles.kinds}>
          <legend className="unseen">Kind</legend>
          {KINDS.map((each) => (
            <label key={each.kind}>
              <input
                type="radio"
                name="kind"
                checked={kind === each.kind}
                onChange={() => setKind(each.kind)}
              />
              {each.name}
            </label>
          ))}
        </fieldset>
        <p className="quiet">{KINDS.find((each) => each.kind === kind)?.where}</p>
        <div className={styles.fields}>
          <Field {...field('name')} label="Name" placeholder={kindInWords(kind)} />
          {kind === 'telegram' ? (
            <>
              <Field
                {...field('bot_token')}
                label="Bot token"
                placeholder="123456789:AA…"
                isSecret
                required
              />
              <Field {...field('chat_id')} label="Chat id" placeholder="-1001234567890" required />
            </>
          ) : (
            <Field {...field('url')} label="Address" placeholder={PLACEHOLDERS[kind]} required />
          )}
        </div>
        <Choices choice={choice} onChange={setChoice} />
        <button type="submit" className="button primary" disabled={add.isPending}>
          Add {kindInWords(kind)}
        </button>
      </form>
      {add.error && <ProblemNote fault={add.error} />}
    </Section>
  );
}

const PLACEHOLDERS: Readonly<Record<Exclude<Kind, 'telegram'>, string>> = {
  discord: 'https://discord.com/api/webhooks/…',
  slack: 'https://hooks.slack.com/services/…',
  webhook: 'https://example.com/fillpath',
};

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly isSecret?: boolean;
  readonly required?: boolean;
  readonly onChange: (value: string) => void;
}

function Field({
  name,
  label,
  value,
  placeholder,
  isSecret = false,
  required = false,
  onChange,
}: FieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={isSecret ? 'password' : 'text'}
        autoComplete="off"
        spellCheck={false}
        maxLength={name === 'name' ? 100 : 2048}
        {...{ value, placeholder, required }}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

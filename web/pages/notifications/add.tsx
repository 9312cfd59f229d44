// A new destination: what its kind needs, with where to find it. The secret of a webhook is shown once.

import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { type Choice, Choices } from './choices.tsx';
import styles from './notifications.module.css';
import { destinations } from './questions.ts';
import {
  ADDRESS_LABELS,
  type AddressField,
  KINDS,
  type Kind,
  kindInWords,
  refusedField,
  USUAL,
} from './words.ts';

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
    onChange(value: string) {
      setGiven({ ...given, [name]: value });
      // What was refused is no longer what stands there.
      if (add.error) add.reset();
    },
  });
  const refused = add.error && refusedField(problemOf(add.error));
  const addressField = (name: AddressField) => ({
    ...field(name),
    label: ADDRESS_LABELS[name],
    refusal: refused?.field === name ? refused.words : null,
    required: true,
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
                onChange={() => {
                  setKind(each.kind);
                  if (add.error) add.reset();
                }}
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
              <Field {...addressField('bot_token')} placeholder="123456789:AA…" isSecret />
              <Field {...addressField('chat_id')} placeholder="-1001234567890" />
            </>
          ) : (
            <Field {...addressField('url')} placeholder={PLACEHOLDERS[kind]} />
          )}
        </div>
        <Choices choice={choice} onChange={setChoice} />
        <button type="submit" className="button primary" disabled={add.isPending}>
          Add {kindInWords(kind)}
        </button>
      </form>
      {add.error && !refused && <ProblemNote fault={add.error} />}
    </Section>
  );
}

const PLACEHOLDERS: Readonly<Record<Exclude<Kind, 'telegram'>, string>> = {
  discord: 'https://discord.com/api/webhooks/…',
  slack: 'https://hooks.slack.com/services/…',
  webhook: 'https://example.com/fillpath',
};

const MOST_CHARACTERS = { name: 100, url: 2048, bot_token: 120, chat_id: 40 } as const;

interface FieldProps {
  readonly name: keyof typeof MOST_CHARACTERS;
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly isSecret?: boolean;
  readonly required?: boolean;
  readonly refusal?: string | null;
  readonly onChange: (value: string) => void;
}

function Field({
  name,
  label,
  value,
  placeholder,
  isSecret = false,
  required = false,
  refusal = null,
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
        maxLength={MOST_CHARACTERS[name]}
        aria-invalid={refusal ? true : undefined}
        aria-describedby={refusal ? `${id}-refused` : undefined}
        {...{ value, placeholder, required }}
        onChange={({ target }) => onChange(target.value)}
      />
      {refusal && (
        <p id={`${id}-refused`} role="alert" className="act">
          {refusal}
        </p>
      )}
    </div>
  );
}

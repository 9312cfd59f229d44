// The message as it was received, beside what was understood of it.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Held } from '../../parts/figures.tsx';
import { counted } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import type { SignalRecord } from './headline.ts';
import styles from './message.module.css';
import { type Member, meaningOf, membersOf } from './message.ts';

interface MessageProps {
  readonly signal: SignalRecord;
  readonly order: Schemas['OrderRecord'] | null;
  readonly account: Schemas['Account'] | undefined;
  readonly instrument: Schemas['Instrument'] | null;
}

export function Message({ signal, order, account, instrument }: MessageProps) {
  const { message, ip_address } = signal;
  const members = message === null ? null : membersOf(message);
  const known = {
    gap: order?.gap ?? null,
    protection: order?.protection ?? null,
    maxAgeSeconds: account?.max_request_age ?? null,
    instrument,
  };
  return (
    <Section
      title="The message"
      className={`${styles.message}`}
      more={
        message !== null && (
          <span className={styles.more}>
            <CopyButton text={message}>Copy</CopyButton>
            <Link to={'/check' as never} search={{ account: signal.trading_account_id } as never}>
              Check it
            </Link>
          </span>
        )
      }
    >
      {members && <h3 className={styles.then}>Understood as</h3>}
      {members ? (
        <div className={styles.lines}>
          {members.map((member, index) => (
            <Line
              // biome-ignore lint/suspicious/noArrayIndexKey: a name may stand there twice, and nothing moves
              key={index}
              member={member}
              isFirst={index === 0}
              isLast={index === members.length - 1}
              isIgnored={signal.ignored.includes(member.name)}
              meaning={meaningOf(member.name, signal, known)}
            />
          ))}
        </div>
      ) : (
        <pre className="paste">
          <code>{message ?? 'It was not kept.'}</code>
        </pre>
      )}
      <p className={styles.footnote}>
        {message !== null && `${counted(new TextEncoder().encode(message).length, 'byte')} `}from {ip_address}
      </p>
    </Section>
  );
}

function Line({
  member: { name, raw, value },
  isFirst,
  isLast,
  isIgnored,
  meaning: { words, held, after, isLess },
}: {
  readonly member: Member;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly isIgnored: boolean;
  readonly meaning: ReturnType<typeof meaningOf>;
}) {
  const shown = <span className={styles.name}>{raw.slice(0, raw.length - value.length)}</span>;
  return (
    <div className={`${styles.line} ${isIgnored || isLess ? 'quiet' : ''}`}>
      <code title={name}>
        {isFirst ? '{ ' : '\u00a0\u00a0'}
        {isIgnored ? (
          <s>
            {shown}
            {value}
          </s>
        ) : (
          <span>
            {shown}
            {value}
          </span>
        )}
        {isLast ? ' }' : ','}
      </code>
      <span>
        {words}
        {held !== undefined && <Held position={held} />}
        {after}
      </span>
    </div>
  );
}

// A group's members: what each trades of a signal, under which name, and what it would do now. They are saved together.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { signal as signalOf } from '../../api/queries.ts';
import { Unreal, unrealWord } from '../../parts/figures.tsx';
import { messageAgain, saidInWords } from '../../parts/last-signal.ts';
import { Led } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { plain, readNumber } from '../../parts/settings/numbers.ts';
import { type Group, type Member, of, useChange } from './change.ts';
import styles from './groups.module.css';

type Account = Schemas['Account'];
type Signal = Schemas['SignalSummary'];

/** As they stand in their fields. */
interface Draft {
  readonly id: string;
  readonly factor: string;
  /** The alert's name for it, and the account's: "BTCUSDT.P=BTCUSDT", one after the other. */
  readonly symbols: string;
  readonly enabled: boolean;
}

const draftOf = (member: Member): Draft => ({
  id: member.trading_account_id,
  factor: plain(member.factor),
  symbols: Object.entries(member.symbols)
    .map(([from, to]) => `${from}=${to}`)
    .join(' '),
  enabled: member.enabled,
});

const FACTOR = { least: 0, most: 1000, above: true };

/** What is to be sent; a text: what is wrong with it. */
function readDraft({ id, factor, symbols, enabled }: Draft): Member | string {
  const typed = readNumber(factor, FACTOR);
  if ('problem' in typed) return typed.problem;
  const pairs = symbols
    .split(/[\s,]+/)
    .filter((pair) => pair !== '')
    .map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair.includes('')))
    return 'Write each symbol as BTCUSDT.P=BTCUSDT: the alert’s name, then the account’s.';
  return {
    trading_account_id: id,
    factor: typed.value,
    symbols: Object.fromEntries(pairs) as Record<string, string>,
    enabled,
  };
}

interface MembersProps {
  readonly group: Group;
  readonly accounts: readonly Account[];
  /** What it was sent last: what the same would do now is shown. null: nothing yet; undefined: it is being read. */
  readonly last: Signal | null | undefined;
}

export function Members({ group, accounts, last }: MembersProps) {
  const stored = group.members.map(draftOf);
  const [drafts, setDrafts] = useState<readonly Draft[] | null>(null);
  const change = useChange(group);
  const shown = drafts ?? stored;
  const read = shown.map(readDraft);
  const wrong = read.find((each) => typeof each === 'string');
  const isNew = JSON.stringify(shown) !== JSON.stringify(stored);
  const others = accounts.filter(({ id }) => !shown.some((each) => each.id === id));
  const would = useWould(group, last);
  const head = would.said ? `What “${would.said}” would do now` : 'What a signal would do now';
  const set = (id: string, what: Partial<Draft>) =>
    setDrafts(shown.map((each) => (each.id === id ? { ...each, ...what } : each)));
  const save = () =>
    change.mutate(
      { members: read.filter((each) => typeof each !== 'string') },
      { onSuccess: () => setDrafts(null) },
    );
  return (
    <Led>
      <table className={`table two ${styles.members}`}>
        <thead>
          <tr>
            <th scope="col">
              <h2>Members</h2>
            </th>
            <th scope="col">Factor</th>
            <th scope="col">Symbol there</th>
            <th scope="col">Enabled</th>
            <th scope="col">{head}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((draft) => (
            <MemberRow
              key={draft.id}
              draft={draft}
              account={accounts.find(({ id }) => id === draft.id)}
              would={would.of(draft)}
              head={head}
              onChange={(what) => set(draft.id, what)}
              onRemove={
                shown.length > 2 ? () => setDrafts(shown.filter((each) => each.id !== draft.id)) : null
              }
            />
          ))}
        </tbody>
      </table>
      <div className={styles.end}>
        {others.length > 0 && shown.length < 20 && (
          <label>
            Add a member{' '}
            <select
              value=""
              onChange={({ target }) =>
                setDrafts([...shown, { id: target.value, factor: '1', symbols: '', enabled: true }])
              }
            >
              <option value="">choose an account</option>
              {others.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <span className="quiet">
          2 to 20; the factor multiplies the signal’s quantity, then the account’s own multiplier; rounded
          down, never up
        </span>
      </div>
      {isNew && (
        <div className={styles.save}>
          <button
            type="button"
            className="button primary"
            disabled={wrong !== undefined || change.isPending}
            onClick={save}
          >
            Save the {shown.length} members
          </button>
          <button type="button" className="link" onClick={() => setDrafts(null)}>
            Leave them as they were
          </button>
          {typeof wrong === 'string' && <span className="act">{wrong}</span>}
        </div>
      )}
      {change.error && <ProblemNote fault={change.error} />}
    </Led>
  );
}

interface MemberRowProps {
  readonly draft: Draft;
  readonly account: Account | undefined;
  readonly would: string;
  /** Of its column, for where that is not there. */
  readonly head: string;
  readonly onChange: (what: Partial<Draft>) => void;
  readonly onRemove: (() => void) | null;
}

function MemberRow({ draft, account, would, head, onChange, onRemove }: MemberRowProps) {
  const name = account?.name ?? 'deleted account';
  const unreal = account
    ? unrealWord({ broker_name: account.broker, environment: account.environment })
    : null;
  return (
    <tr className={unreal ? 'hatched' : undefined}>
      <th scope="row">
        {account ? (
          <Link to={`/accounts/${account.id}` as never} className={styles.name} title={name}>
            {name}
          </Link>
        ) : (
          <span className="quiet">{name}</span>
        )}
        <small>
          {account?.broker !== unreal && account?.broker} <Unreal word={unreal} />
        </small>
      </th>
      <td className={styles.factor} data-head="factor">
        <input
          aria-label={`Factor of ${name}`}
          inputMode="decimal"
          value={draft.factor}
          onChange={({ target }) => onChange({ factor: target.value })}
        />
      </td>
      <td className={styles.map} data-head="symbol there">
        <input
          aria-label={`Symbols of ${name}`}
          placeholder="as sent"
          title="BTCUSDT.P=BTCUSDT: the alert’s name, then the account’s"
          value={draft.symbols}
          onChange={({ target }) => onChange({ symbols: target.value })}
        />
      </td>
      <td className={styles.takes}>
        <label>
          <input
            type="checkbox"
            checked={draft.enabled}
            onChange={({ target }) => onChange({ enabled: target.checked })}
          />{' '}
          {draft.enabled ? 'takes part' : 'left out'}
          <span className="unseen">: {name}</span>
        </label>
      </td>
      <td className={styles.would} data-head={head}>
        <div>
          <span className={draft.enabled ? undefined : 'quiet'}>{would}</span>
          {onRemove && (
            <button type="button" className="link" onClick={onRemove}>
              Remove<span className="unseen"> {name}</span>
            </button>
          )}
        </div>
      </td>
    </tr>
  );
}

interface Would {
  /** The signal in words; null: there was none that could be sent again. */
  readonly said: string | null;
  readonly of: (draft: Draft) => string;
}

/** From the check: as the last signal, sent again now. Nothing is sent. */
function useWould(group: Group, last: Signal | null | undefined): Would {
  const { data: signal } = useQuery({ ...signalOf(last?.id ?? ''), enabled: Boolean(last) });
  const message = signal?.symbol ? messageAgain(signal, new Date()) : null;
  const { data, isPending } = useQuery({
    queryKey: ['groups', 'would', group.id, group.members, last?.id ?? null],
    enabled: message !== null,
    retry: false,
    staleTime: 30_000,
    queryFn: () =>
      read(
        api.POST('/trading/groups/{id}/check', {
          ...of(group.id),
          body: { simulation: false, message: message ?? '' },
        }),
      ),
  });
  return {
    said: signal && message !== null ? saidInWords(signal) : null,
    of({ id, enabled }) {
      if (!enabled) return 'nothing, exits neither';
      if (last === undefined) return '…';
      if (last === null) return 'its first signal is yet to come';
      if (signal && message === null) return 'its next signal is yet to come';
      const member = data?.members?.find(({ trading_account_id }) => trading_account_id === id);
      if (!member) return isPending ? '…' : 'save it to see';
      if (member.error) return `Refused: ${member.error.detail}`;
      return member.plan?.error?.message ?? member.plan?.text ?? 'nothing';
    },
  };
}

// A group's signal: what became of it at each of its members, side by side, and where the time went. From the commit on each order
// has a story of its own.

import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { accounts as allAccounts, groups as allGroups, order as orderOf } from '../../api/queries.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Held, Unreal } from '../../parts/figures.tsx';
import { refusedFor } from '../../parts/group-words.ts';
import { positionAfter } from '../../parts/happened.ts';
import { Mark } from '../../parts/marks.tsx';
import { figure, signed, unrealOf } from '../../parts/numbers.ts';
import { useOver } from '../../parts/over.tsx';
import { Section, useTitle } from '../../parts/page.tsx';
import { Path } from '../../parts/path.tsx';
import { isResting, whereInWords } from '../../parts/resting/words.ts';
import { ResumeDialog } from '../../parts/resume-dialog.tsx';
import { SignalStatus } from '../../parts/signal-status.tsx';
import { countedInWords } from '../../parts/sizes.ts';
import { clockTime, dayOf, When } from '../../parts/when.tsx';
import { Checks } from './checks.tsx';
import { GroupFall, type Ordered } from './group-fall.tsx';
import { groupHeadline, sameThere } from './group-headline.ts';
import styles from './group-story.module.css';
import type { SignalRecord } from './headline.ts';
import { Message } from './message.tsx';
import storyStyles from './story.module.css';
import { Neighbours } from './story-top.tsx';
import { whileUnderWay } from './under-way.ts';

type Order = Schemas['OrderRecord'];
type Account = Schemas['Account'];
type MemberOrder = Schemas['MemberOrder'];

interface MemberStory extends Ordered {
  readonly member: MemberOrder;
}

export function GroupStory({ signal }: { readonly signal: SignalRecord }) {
  const { data: accounts } = useQuery(allAccounts);
  const { data: groups } = useQuery(allGroups);
  const group = groups?.find(({ id }) => id === signal.group_id);
  const orders = useQueries({
    queries: signal.orders.map(({ order_id }) => ({
      ...orderOf(order_id ?? ''),
      enabled: order_id !== null,
      ...whileUnderWay,
    })),
  });
  const stories: MemberStory[] = signal.orders.map((member, index) => ({
    member,
    account: accounts?.find(({ id }) => id === member.trading_account_id),
    order: orders[index]?.data ?? null,
  }));
  const nameOf = (id: string) => accounts?.find((each) => each.id === id)?.name ?? 'a deleted account';
  const read = stories.flatMap(({ order }) => order ?? []);
  const headline = groupHeadline(signal, read, nameOf);
  useTitle(headline.lead);
  const date = new Date(signal.arrived_at);
  const ends = stories.flatMap(({ order }) => order?.trace.answered ?? []);
  return (
    <article className={storyStyles.story}>
      <Path to={group ? `/groups/${group.id}` : '/signals'} name={group?.name ?? 'Signals'}>
        <span>{clockTime(date, true)}</span>
        <Neighbours of={{ signal, order: null }} />
      </Path>
      <header className={`top ${storyStyles.top}`}>
        <h1 className="answer">
          {headline.lead}
          {headline.rest && <span className="quiet">: {headline.rest}</span>}
        </h1>
        <p className="facts">
          <span>
            group{' '}
            {group ? (
              <Link to={`/groups/${group.id}` as never}>{group.name}</Link>
            ) : (
              <span className="quiet">deleted</span>
            )}
          </span>
          <span>
            {dayOf(date)} <b title={`${date.toISOString()} UTC`}>{clockTime(date, true)}</b>
          </span>
          {ends.length > 0 && ends.length === stories.filter(({ order }) => order).length && (
            <span>
              all answered after <b>{figure(Math.max(...ends))} ms</b>
            </span>
          )}
          <span>
            signal <CopyId id={signal.id} />
          </span>
        </p>
      </header>
      {stories.length > 0 && (
        <Section
          title="Members"
          more={<span className="quiet">taken together; from there each for itself</span>}
        >
          <div className={styles.members}>
            {stories.map((story) => (
              <MemberPart key={story.member.trading_account_id} signal={signal} story={story} group={group} />
            ))}
          </div>
        </Section>
      )}
      <GroupFall stories={stories} />
      <div className="columns even">
        <Message signal={signal} order={null} account={undefined} instrument={null} />
        <Checks signal={signal} order={null} account={undefined} />
      </div>
    </article>
  );
}

interface MemberPartProps {
  readonly signal: SignalRecord;
  readonly story: MemberStory;
  readonly group: Schemas['Group'] | undefined;
}

function MemberPart({ signal, story: { member, account, order }, group }: MemberPartProps) {
  const unreal = unrealOf(order ?? { ...signal, real_money: false }, account);
  const name = account?.name ?? 'deleted account';
  return (
    <section className={unreal ? `hatched ${styles.member}` : styles.member} aria-label={name}>
      <h3>
        {account ? <Link to={`/accounts/${account.id}` as never}>{name}</Link> : name}
        <small>
          {account?.broker !== unreal && account?.broker}
          {account && !unreal && `, ${account.environment}`} <Unreal word={unreal} />
        </small>
      </h3>
      {member.code !== null ? (
        <Refusal member={member} account={account} signal={signal} group={group} />
      ) : order ? (
        <Facts order={order} />
      ) : (
        <p className="quiet">{member.order_id === null ? 'Said where it stands.' : 'Being read.'}</p>
      )}
    </section>
  );
}

function Facts({ order }: { readonly order: Order }) {
  const after = positionAfter(order);
  const { protection } = order;
  const rests = isResting(order);
  const rows: readonly (readonly [string, React.ReactNode])[] = [
    ['Status', <SignalStatus key="status" status={order.status} />],
    ['Symbol there', order.symbol],
    ['Quantity', quantityOf(order)],
    ['Waits for', rests ? whereInWords(order) : null],
    ['Until', rests && order.expires_at !== null ? <When at={order.expires_at} key="until" /> : null],
    [
      'Was, now',
      order.position_before === null || after === null ? null : (
        <>
          <Held position={order.position_before} />, now <Held position={after} />
        </>
      ),
    ],
    ['Filled at', order.fill_price === null ? null : figure(order.fill_price)],
    [
      order.price === null ? 'Slippage' : `Against ${figure(order.price)}`,
      order.slippage === null ? null : signed(order.slippage),
    ],
    ['Arrival to answer', order.trace.answered === undefined ? null : `${figure(order.trace.answered)} ms`],
    ['Stop', protection?.stop_loss ? figure(protection.stop_loss) : null],
    ['Unprotected for', order.unprotected_ms === null ? null : `${figure(order.unprotected_ms / 1000)} s`],
    ['Why', order.error === null ? null : order.error.message],
    [
      'Order',
      <span key="order">
        <Link to={`/orders/${order.order_id}` as never}>its story</Link> <CopyId id={order.order_id} />
      </span>,
    ],
  ];
  return (
    <dl>
      {rows
        .filter(([, value]) => value !== null)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** "0.4 × 0.5 = 0.2", "3,000 in money × 0.5 is 8.3"; a close has none of its own. */
function quantityOf({ sizing, quantity, quantity_type }: Order): React.ReactNode {
  if (!sizing) return quantity === 0 ? null : <b>{figure(quantity)}</b>;
  const { asked, factor, units } = sizing;
  return (
    <span title={sizing.text ?? undefined}>
      {countedInWords(asked, quantity_type)}
      {factor !== 1 && ` × ${figure(factor)}`}
      {units !== null && (
        <>
          {quantity_type === 'units' ? ' = ' : ' is '}
          <b>{figure(units)}</b>
        </>
      )}
    </span>
  );
}

interface RefusalProps {
  readonly group: Schemas['Group'] | undefined;
  readonly member: MemberOrder;
  readonly account: Account | undefined;
  readonly signal: SignalRecord;
}

/** With the one way on. It is never sent again. */
function Refusal({ member, account, signal, group }: RefusalProps) {
  const [isAsking, setAsking] = useState(false);
  const { openTrade } = useOver();
  const own = group?.members.find(({ trading_account_id: id }) => id === account?.id);
  const same = account ? sameThere(signal, account, own) : null;
  return (
    <div className={styles.refusal}>
      <p>
        <span className="status">
          <Mark name="refused" />
          refused
        </span>
      </p>
      <p>{member.detail ?? refusedFor(member)}</p>
      <p>
        <a href={`/docs/errors#${member.code}`}>
          <code>{member.code}</code>
        </a>
      </p>
      {member.code === 'account_halted' && account?.halted && (
        <p>
          <button type="button" className="button" onClick={() => setAsking(true)}>
            Resume {account.name}…
          </button>
        </p>
      )}
      <p className="quiet">
        This signal is not sent later.
        {same && (
          <>
            {' '}
            To hold the same there:{' '}
            <button type="button" className="link" onClick={() => openTrade(same)}>
              {same.action} {countedInWords(same.quantity, same.counts ?? 'units')}
              {same.counts && ' of'} {same.symbol}{' '}
              {same.limitPrice || same.stopPrice
                ? whereInWords({ limit_price: same.limitPrice ?? null, stop_price: same.stopPrice ?? null })
                : 'now'}
            </button>
          </>
        )}
      </p>
      {isAsking && account && <ResumeDialog account={account} onClose={() => setAsking(false)} />}
    </div>
  );
}

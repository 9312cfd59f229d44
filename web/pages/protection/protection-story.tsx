// What protects a position, or did: how it stands, and everything that was done about it.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { accounts, protection as protectionOf } from '../../api/queries.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Side, Unreal, unrealWord } from '../../parts/figures.tsx';
import { figure } from '../../parts/numbers.ts';
import { useOver } from '../../parts/over.tsx';
import { Led, Page, Section, Skeleton } from '../../parts/page.tsx';
import { Path } from '../../parts/path.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ProtectionNow, StateOf } from '../../parts/protection/now.tsx';
import { Resume } from '../../parts/protection/resume.tsx';
import { gathered, type Line, moveInWords, orderOf } from '../../parts/protection/words.ts';
import { When } from '../../parts/when.tsx';
import styles from './protection-story.module.css';

/** While it is looked at: a trailing stop moves by itself. */
const LOOK_AGAIN_MS = 5_000;

export default function ProtectionStory() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const asked = useQuery({
    ...protectionOf(id),
    refetchInterval: ({ state }) => (state.data?.state === 'ended' ? false : LOOK_AGAIN_MS),
  });
  const { data: all } = useQuery(accounts);
  const { openProtect } = useOver();
  const { data: protection } = asked;
  if (!protection)
    return (
      <>
        <Path to="/positions" name="Positions" />
        <Page title="Protection" answer={<span className="quiet">What protects a position</span>}>
          {asked.error ? <ProblemNote fault={asked.error} onAgain={asked.refetch} /> : <Skeleton rows={8} />}
        </Page>
      </>
    );
  const { symbol, side, state, history, simulation, trading_account_id: accountId } = protection;
  const account = all?.find((one) => one.id === accountId);
  const unreal = account
    ? unrealWord({ simulation, broker_name: account.broker, environment: account.environment })
    : simulation
      ? 'simulated'
      : null;
  return (
    <>
      <Path to="/positions" name="Positions">
        <span>{symbol}</span>
      </Path>
      <Page
        title={titleOf(protection)}
        answer={<Answer protection={protection} />}
        facts={
          <>
            <StateOf state={state} />
            <span>
              <Side side={side} /> {symbol}
            </span>
            <span>
              {account && <Link to={`/accounts/${account.id}` as never}>{account.name}</Link>}{' '}
              <Unreal word={unreal} />
            </span>
            <span>
              protection <CopyId id={protection.id} />
            </span>
          </>
        }
      >
        <div className="columns even">
          <Section
            title={state === 'ended' ? 'As it was last' : 'As it stands'}
            more={
              state !== 'ended' && (
                <button
                  type="button"
                  className="link"
                  onClick={() => openProtect({ accountId, symbol, simulation })}
                >
                  Change it
                </button>
              )
            }
          >
            <ProtectionNow protection={protection} />
            {state === 'left' && <Left id={protection.id} />}
          </Section>
          <Led>
            <table className={`table ${styles.moves}`}>
              <thead>
                <tr>
                  <th scope="col">
                    <h2>Every move</h2>
                  </th>
                  <th scope="col">What</th>
                  <th scope="col" className="num">
                    Order
                  </th>
                </tr>
              </thead>
              <tbody>
                {gathered(history).map((line) => (
                  <tr key={`${line.at} ${line.what} ${line.from} ${line.to}`}>
                    <td className="quiet">
                      <When at={line.at} milliseconds />
                    </td>
                    <td>{moveInWords(line)}</td>
                    <td className="num">
                      <ByOrder line={line} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Led>
        </div>
      </Page>
    </>
  );
}

function Left({ id }: { readonly id: string }) {
  const [fault, setFault] = useState<unknown>(null);
  return (
    <>
      <p className={styles.left}>
        What is in place at the broker counts; what is missing is placed, and if nothing is held any more, it
        is removed. Until then nothing is placed, moved or cancelled.
      </p>
      {fault !== null && <ProblemNote fault={fault} />}
      <Resume id={id} onFault={setFault} />
    </>
  );
}

/** An order that set it, or one that it made, has its own story. */
function ByOrder({ line }: { readonly line: Line }) {
  const order = orderOf(line);
  return order && <Link to={`/orders/${order}` as never}>its story</Link>;
}

interface Shown {
  readonly symbol: string;
  readonly side: 'long' | 'short';
  readonly state: string;
  readonly stop_loss: number | null;
}

function leadOf({ state, stop_loss }: Shown): string {
  if (state === 'ended') return 'Ended';
  if (state === 'unprotected') return 'Unprotected';
  if (state === 'left') return 'Not watched';
  if (stop_loss === null) return 'No stop';
  return `Stop at ${figure(stop_loss)}`;
}

const titleOf = (shown: Shown): string => `${leadOf(shown)}: ${shown.side} ${shown.symbol}`;

/** Between what it leads with and whose it is. */
function between(state: string, stop: number | null): string {
  if (stop !== null && state === 'unprotected') return `: a stop at ${figure(stop)} is wanted for `;
  if (state === 'left') return stop === null ? ': what protects ' : `: the stop at ${figure(stop)} of `;
  return ' for ';
}

function Answer({ protection }: { readonly protection: Shown }): ReactNode {
  const { state, side, symbol, stop_loss } = protection;
  const tone = state === 'unprotected' ? 'risk' : state === 'left' ? 'act' : undefined;
  return (
    <>
      <span className={tone}>{leadOf(protection)}</span>
      <span className="quiet">
        {between(state, stop_loss)}
        {side} {symbol}
      </span>
    </>
  );
}

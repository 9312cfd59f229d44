import type { Schemas } from '../../api/client.ts';
import { figure } from '../../parts/numbers.ts';
import { Led, Skeleton } from '../../parts/page.tsx';
import { ageInWords } from '../../parts/when.tsx';
import { Who } from './who.tsx';

/** Mailboxes that are shown by name. */
const NAMED = 5;

interface QueuesProps {
  readonly queues: Schemas['Queues'] | undefined;
  readonly hasFailed: boolean;
}

const Waiting = () => (
  <Led>
    <Skeleton rows={4} />
  </Led>
);

export function Queues({ queues, hasFailed }: QueuesProps) {
  // What went wrong stands with the hosts, who are asked about with them.
  if (!queues) return hasFailed ? null : <Waiting />;
  const full = queues.mailboxes.filter(({ waiting }) => waiting > 0);
  const inMailboxes = full.reduce((sum, { waiting }) => sum + waiting, 0);
  return (
    <Led>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">
              <h2>Queues</h2>
            </th>
            <th scope="col" className="num">
              Waiting
            </th>
            <th scope="col" className="num">
              Running
            </th>
            <th scope="col" className="num">
              Age
            </th>
          </tr>
        </thead>
        <tbody>
          <Row name="Orders" waiting={queues.orders.under_way} age={oldest(queues.orders.oldest_seconds)} />
          <Row
            name="Fill checks"
            waiting={queues.fill_checks.scheduled}
            running={queues.fill_checks.running}
            age={overdue(queues.fill_checks.overdue_seconds)}
          />
          <Row name="Worker starts" waiting={queues.worker_starts.waiting} />
          <Row name="Mailboxes" waiting={inMailboxes} />
          {full.slice(0, NAMED).map(({ user_id: id, waiting }) => (
            <tr key={id}>
              <td className="quiet">
                <Who id={id} />
              </td>
              <td className="num">{figure(waiting)}</td>
              <td />
              <td />
            </tr>
          ))}
        </tbody>
      </table>
    </Led>
  );
}

const oldest = (seconds: number | null): string =>
  seconds === null ? '' : `oldest ${ageInWords(seconds * 1000)}`;

/** A check that waits for its time is in order; less than a second is nobody's delay. */
const overdue = (seconds: number): string => (seconds < 1 ? '' : `overdue ${ageInWords(seconds * 1000)}`);

function Row({
  name,
  waiting,
  running,
  age = '',
}: {
  readonly name: string;
  readonly waiting: number;
  readonly running?: number;
  readonly age?: string;
}) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="num">{figure(waiting)}</td>
      <td className="num">{running === undefined ? '' : figure(running)}</td>
      <td className="num">{age}</td>
    </tr>
  );
}

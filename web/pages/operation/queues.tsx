import type { Schemas } from '../../api/client.ts';
import { figure } from '../../parts/numbers.ts';
import { Led, Skeleton } from '../../parts/page.tsx';
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
          </tr>
        </thead>
        <tbody>
          <Row
            name="Fill checks"
            waiting={queues.fill_checks.scheduled}
            running={queues.fill_checks.running}
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
            </tr>
          ))}
        </tbody>
      </table>
    </Led>
  );
}

function Row({
  name,
  waiting,
  running,
}: {
  readonly name: string;
  readonly waiting: number;
  readonly running?: number;
}) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="num">{figure(waiting)}</td>
      <td className="num">{running === undefined ? '' : figure(running)}</td>
    </tr>
  );
}

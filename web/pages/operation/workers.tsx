// A user's orders are executed by that user's worker. It can be stopped; the next request starts another.

import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Mark } from '../../parts/marks.tsx';
import { More } from '../../parts/more.tsx';
import { figure } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { When } from '../../parts/when.tsx';
import { NotThere, type Part } from './not-there.tsx';
import styles from './operation.module.css';
import { Who } from './who.tsx';

type Worker = Schemas['Worker'];

interface WorkersProps {
  readonly query: UseInfiniteQueryResult<InfiniteData<Schemas['WorkerPage']>>;
  readonly part: Part;
}

export function Workers({ query, part }: WorkersProps) {
  const [stopping, setStopping] = useState<Worker | null>(null);
  const all = query.data?.pages.flatMap(({ items }) => items);
  return (
    <Led>
      <table className="table listed">
        <thead>
          <tr>
            <th scope="col">
              <h2>Workers</h2>
            </th>
            <th scope="col">Host</th>
            <th scope="col">Since</th>
            <th scope="col">Last active</th>
            <th scope="col">State</th>
            <th scope="col" className="num">
              Connections
            </th>
            <th scope="col">
              <span className="unseen">Stop</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all?.map((worker) => (
            <tr key={worker.user_id}>
              <th scope="row">
                <Who id={worker.user_id} />
              </th>
              <td>{worker.host}</td>
              <td data-head="since">
                <When at={worker.started_at} />
              </td>
              <td data-head="last active">
                <When at={worker.last_active_at} relative />
              </td>
              <td>
                {worker.busy ? (
                  <span className="status live">
                    <Mark name="executing" />
                    executing
                  </span>
                ) : (
                  'waits'
                )}
              </td>
              <td className="num" data-head="connections">
                {figure(worker.connections)}
              </td>
              <td className="num">
                <button type="button" className="link" onClick={() => setStopping(worker)}>
                  Stop…
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <NotThere part={part} rows={1} />
      {all?.length === 0 && (
        <p className="quiet">No worker runs: one starts with the next request that needs it.</p>
      )}
      <p>
        <More query={query} />
      </p>
      {stopping && <StopDialog worker={stopping} onClose={() => setStopping(null)} />}
    </Led>
  );
}

function StopDialog({ worker, onClose }: { readonly worker: Worker; readonly onClose: () => void }) {
  const client = useQueryClient();
  const stop = useMutation({
    mutationFn: () =>
      read(api.POST('/deployment/workers/{user_id}/stop', { params: { path: { user_id: worker.user_id } } })),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['deployment'] });
      onClose();
    },
  });
  return (
    <Dialog title="Stop a worker" onClose={onClose}>
      <p>
        The worker of <Who id={worker.user_id} /> on {worker.host} finishes what it has in flight, then it
        stops. No order is lost, and none is sent twice; the user’s next request starts a new worker.
      </p>
      {stop.error && <ProblemNote fault={stop.error} />}
      <p className={styles.buttons}>
        <button type="button" className="button" disabled={stop.isPending} onClick={() => stop.mutate()}>
          {stop.isPending ? 'It finishes what it has in flight…' : 'Stop this worker'}
        </button>
        <button type="button" className="button" data-first onClick={onClose}>
          Let it run
        </button>
      </p>
    </Dialog>
  );
}

import type { Schemas } from '../../api/client.ts';
import { figure } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { NotThere, type Part } from './not-there.tsx';

interface HostsProps {
  readonly queues: Schemas['Queues'] | undefined;
  readonly part: Part;
}

/** The worker hosts, as they last said of themselves. */
export function Hosts({ queues, part }: HostsProps) {
  return (
    <Led>
      <table className="table listed">
        <thead>
          <tr>
            <th scope="col">
              <h2>Worker hosts</h2>
            </th>
            <th scope="col">Since</th>
            <th scope="col">State</th>
            <th scope="col" className="num">
              Users
            </th>
            <th scope="col" className="num">
              Busy
            </th>
          </tr>
        </thead>
        <tbody>
          {queues?.hosts.map((host) => (
            <tr key={host.name}>
              <th scope="row">{host.name}</th>
              <td data-head="since">
                <When at={host.started_at} />
              </td>
              <td>{host.draining ? <b>takes no new users</b> : 'takes users'}</td>
              <td className="num" data-head="users">
                {figure(host.workers)}
              </td>
              <td className="num" data-head="busy">
                {figure(host.busy)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <NotThere part={part} rows={1} />
      {queues?.hosts.length === 0 && (
        <p className="act">No worker host is running: orders wait for one until their deadline.</p>
      )}
    </Led>
  );
}

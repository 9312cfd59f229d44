// The last that happened to a position's protection; all of it is in its story.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { protection } from '../../api/queries.ts';
import { gathered, moveInWords } from '../../parts/protection/words.ts';
import { When } from '../../parts/when.tsx';
import styles from './protect-drawer.module.css';

const SHOWN = 4;

export function Moves({ id, onLeave }: { readonly id: string; readonly onLeave: () => void }) {
  const { data } = useQuery(protection(id));
  const history = data?.history ?? [];
  if (history.length === 0) return null;
  return (
    <section className={styles.moves}>
      <h3>
        Moves{' '}
        <Link to={`/protections/${id}` as never} onClick={onLeave}>
          Its story
        </Link>
      </h3>
      <table className="table dense">
        <thead className="unseen">
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        <tbody>
          {gathered(history)
            .slice(-SHOWN)
            .map((line) => (
              <tr key={`${line.at} ${line.what} ${line.to}`}>
                <td className="quiet">
                  <When at={line.at} milliseconds />
                </td>
                <td>{moveInWords(line)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}

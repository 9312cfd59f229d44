// What brokers said and nobody could read: by broker and by what was asked, with the last of it. It is text, whatever it looks like.

import type { Schemas } from '../../api/client.ts';
import { figure } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { NotThere, type Part } from './not-there.tsx';
import styles from './operation.module.css';
import { lastRepliesOf } from './words.ts';

interface UnreadableProps {
  readonly unreadable: Schemas['UnreadableReplies'] | undefined;
  readonly part: Part;
}

export function UnreadableReplies({ unreadable, part }: UnreadableProps) {
  return (
    <Led>
      <table className="table two listed">
        <thead>
          <tr>
            <th scope="col">
              <h2>Replies that could not be read</h2>
            </th>
            <th scope="col" className="num">
              Times
            </th>
            <th scope="col">Since</th>
            <th scope="col">Last</th>
            <th scope="col">What it said</th>
          </tr>
        </thead>
        <tbody>
          {unreadable?.counts.map((count) => (
            <tr key={`${count.broker} ${count.call}`}>
              <th scope="row">
                {count.broker}
                <small>{count.call}</small>
              </th>
              <td className="num">{figure(count.times)}</td>
              <td>
                <When at={count.first_at} />
              </td>
              <td>
                <When at={count.last_at} />
              </td>
              <td className={styles.wrap}>
                <Said replies={lastRepliesOf(unreadable, count)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <NotThere part={part} rows={1} two />
      {unreadable?.counts.length === 0 && (
        <p className="quiet">None: every reply of the brokers could be read.</p>
      )}
      {unreadable && unreadable.counts.length > 0 && (
        <p className={styles.note}>
          A broker may have changed its answers. Nothing is guessed: an order of which the answer could not be
          read is looked up. If it goes on, look for a newer version and report the reply; keys and names are
          taken out of it.
        </p>
      )}
    </Led>
  );
}

function Said({ replies }: { readonly replies: readonly Schemas['UnreadableReplies']['replies'][number][] }) {
  if (replies.length === 0) return <span className="quiet">not kept any more</span>;
  return (
    <details>
      <summary>{replies.length === 1 ? 'Show it' : `Show the last ${figure(replies.length)}`}</summary>
      {replies.map(({ status, reply, seen_at }) => (
        <p key={seen_at}>
          <small>
            <When at={seen_at} />, status {status}
          </small>{' '}
          <code>{reply}</code>
        </p>
      ))}
    </details>
  );
}

// Orders whose fill could not be verified, of all users. What the broker said is text, whatever it looks like.

import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, read, type Schemas } from '../../api/client.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Unreal } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { More } from '../../parts/more.tsx';
import { counted, unrealOf } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { When } from '../../parts/when.tsx';
import { NotThere, type Part } from './not-there.tsx';
import styles from './operation.module.css';
import { Who } from './who.tsx';

interface DeadLettersProps {
  readonly query: UseInfiniteQueryResult<InfiniteData<Schemas['DeadLetterPage']>>;
  readonly part: Part;
  readonly ownId: string;
}

export function DeadLetters({ query, part, ownId }: DeadLettersProps) {
  const all = query.data?.pages.flatMap(({ items }) => items);
  return (
    <Led>
      <table className={`table two listed ${styles.letters}`}>
        <thead>
          <tr>
            <th scope="col">
              <h2>Dead letters</h2>
            </th>
            <th scope="col">Last status</th>
            <th scope="col">Last error</th>
            <th scope="col">
              <span className="unseen">Ask again</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all?.map((letter) => (
            <Letter key={letter.order_id} letter={letter} isOwn={letter.user_id === ownId} />
          ))}
        </tbody>
      </table>
      <NotThere part={part} rows={1} two />
      {all?.length === 0 && (
        <p className="quiet">None: the fill of every order is known, or being looked up.</p>
      )}
      {all && all.length > 0 && (
        <p className={styles.note}>
          Asking again looks the order up at its broker at once, and starts its tries over. It never sends an
          order.
        </p>
      )}
      <p>
        <More query={query}>Older</More>
      </p>
    </Led>
  );
}

function Letter({ letter, isOwn }: { readonly letter: Schemas['DeadLetter']; readonly isOwn: boolean }) {
  const client = useQueryClient();
  const retry = useMutation({
    mutationFn: () =>
      read(api.POST('/deployment/dead-letters/{id}/retry', { params: { path: { id: letter.order_id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['deployment'] }),
  });
  // Whose account it is stays with its user: of others only whether it is real money is known here.
  const unreal = unrealOf(letter, undefined);
  return (
    <tr className={unreal ? 'hatched' : undefined}>
      <th scope="row">
        {isOwn ? (
          <Link to="/orders/$id" params={{ id: letter.order_id }}>
            {letter.symbol}
          </Link>
        ) : (
          letter.symbol
        )}{' '}
        <CopyId id={letter.order_id} /> <Unreal word={unreal} />
        <small>
          <Who id={letter.user_id} />, {counted(letter.attempts, 'look')}, last <When at={letter.next_at} />
        </small>
      </th>
      <td>
        <span className="status risk">
          <Mark name="placed" />
          <span className="risk">{letter.status}</span>
        </span>
      </td>
      <td className={styles.wrap}>{letter.last_error ?? <span className="quiet">none</span>}</td>
      <td className="num">
        <button
          type="button"
          className="button"
          disabled={retry.isPending || retry.isSuccess}
          onClick={() => retry.mutate()}
        >
          {retry.isSuccess ? 'Being asked' : 'Ask the broker again'}
        </button>
        {retry.error && <ProblemNote fault={retry.error} />}
      </td>
    </tr>
  );
}

// Users and their plans, newest first; the search is by any part of an address and stands in the page's own address.

import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { More } from '../../parts/more.tsx';
import { Led } from '../../parts/page.tsx';
import { dayOf } from '../../parts/when.tsx';
import { NotThere, type Part } from './not-there.tsx';
import styles from './operation.module.css';
import { UserDialog } from './user-dialog.tsx';
import { untilWords } from './words.ts';

type User = Schemas['UserRecord'];

interface UsersProps {
  readonly query: UseInfiniteQueryResult<InfiniteData<Schemas['UserRecordPage']>>;
  readonly part: Part;
  /** The part of an address that was asked for; empty: all. */
  readonly email: string;
  readonly ownId: string;
}

export function Users({ query, part, email, ownId }: UsersProps) {
  const [changing, setChanging] = useState<string | null>(null);
  const all = query.data?.pages.flatMap(({ items }) => items);
  return (
    <Led>
      <table className={`table listed ${styles.users}`}>
        <thead>
          <tr>
            <th scope="col">
              <h2>Users</h2>
            </th>
            <th scope="col">Plan</th>
            <th scope="col">Until</th>
            <th scope="col">Terms</th>
            <th scope="col">Since</th>
            <th scope="col">State</th>
            <th scope="col">
              <span className="unseen">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all?.map((user) => (
            <UserRow key={user.id} user={user} onChange={() => setChanging(user.id)} />
          ))}
        </tbody>
      </table>
      <NotThere part={part} rows={4} />
      {all?.length === 0 && <p className="quiet">No user has “{email}” in the address.</p>}
      <div className={styles.below}>
        <Search key={email} email={email} />
        <p>
          <More query={query}>Older</More>
        </p>
      </div>
      {changing && <UserDialog id={changing} isOwn={changing === ownId} onClose={() => setChanging(null)} />}
    </Led>
  );
}

function UserRow({ user, onChange }: { readonly user: User; readonly onChange: () => void }) {
  const hasLapsed = user.plan !== user.effective_plan;
  return (
    <tr>
      <th scope="row" className="ellipsis" title={user.email}>
        {user.email}
      </th>
      <td data-head="plan">
        {user.plan}
        {hasLapsed && <span className="quiet">, behaves as {user.effective_plan}</span>}
      </td>
      <td data-head="until">{untilWords(user, serverNow())}</td>
      <td data-head="terms">{user.terms_version === null ? 'none' : `version ${user.terms_version}`}</td>
      <td data-head="since">{dayOf(new Date(user.created_at))}</td>
      <td>
        {user.is_active ? 'active' : <span className="quiet">deactivated</span>}
        {user.is_admin && ', admin'}
      </td>
      <td className="num">
        <button type="button" className="link" aria-label={`Change ${user.email}`} onClick={onChange}>
          Change…
        </button>
      </td>
    </tr>
  );
}

function Search({ email }: { readonly email: string }) {
  const navigate = useNavigate();
  const [text, setText] = useState(email);
  const search = (event: FormEvent) => {
    event.preventDefault();
    void navigate({
      to: '/operation',
      search: (text.trim() ? { email: text.trim() } : {}) as never,
      resetScroll: false,
    });
  };
  return (
    <search>
      <form className={styles.search} onSubmit={search}>
        <input
          type="search"
          aria-label="Part of an address"
          placeholder="Part of an address"
          maxLength={254}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" className="button">
          Find users
        </button>
      </form>
    </search>
  );
}

import { useQuery } from '@tanstack/react-query';
import { CopyId } from '../../parts/copy.tsx';
import { user as userQuery } from './questions.ts';

/** How long an email address is taken for the same. */
const KNOWN_MS = 300_000;

/** The user's address, and until it is known the id. */
export function Who({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...userQuery(id), staleTime: KNOWN_MS });
  return data ? <span title={id}>{data.email}</span> : <CopyId id={id} />;
}

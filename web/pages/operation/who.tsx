import { useQuery } from '@tanstack/react-query';
import { CopyId } from '../../parts/copy.tsx';
import { emailOf } from './questions.ts';

/** The user's address, and until it is known the id. */
export function Who({ id }: { readonly id: string }) {
  const { data: email } = useQuery(emailOf(id));
  return email === undefined ? <CopyId id={id} /> : <span title={id}>{email}</span>;
}

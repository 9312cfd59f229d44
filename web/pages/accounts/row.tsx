// A setting of an account that is typed.

import { FieldRow as AnyFieldRow, type FieldRowProps } from '../../parts/settings/field-row.tsx';
import { type Change, useChange } from './change.ts';
import type { Account } from './words.ts';

type Props = Omit<FieldRowProps<Change>, 'change'> & { readonly account: Account };

export const FieldRow = ({ account, ...row }: Props) => <AnyFieldRow change={useChange(account)} {...row} />;

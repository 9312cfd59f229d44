// What a key may do at Bitget. The two kinds of accounts are asked by calls of their own, and tell it in words of their own.

import { dataOf } from './bitget-rows.ts';
import { type AccountKind, type Asking, question } from './profile.ts';
import { isRow, type Row, text, word } from './rows.ts';

const keyBy = (method: string) =>
  question(method, [], (body): Row | undefined => {
    const key = dataOf(body);
    return isRow(key) ? key : undefined;
  });

const KEYS = {
  classic: keyBy('privateSpotGetV2SpotAccountInfo'),
  unified: keyBy('privateUtaGetV3AccountInfo'),
} as const;

/** Whether it suits; a refusal to tell is held against nobody. */
export async function keyStanding(asking: Asking, kind: AccountKind) {
  const told = await asking.tell(KEYS[kind]);
  const key: Row = 'answer' in told ? told.answer : {};
  const may = [key.authorities, key.permissions].flat();
  return {
    identity: word(key, 'userId') ?? word(key, 'uid'),
    problems: mayOnlyRead(key)
      ? [
          'The key may only read: give it Read-write for Futures orders and holdings (for a unified account: Unified account trade) in Bitget’s API Key Management.',
        ]
      : [],
    warnings: [
      ...(may.some((word) => word === 'wwow' || word === 'withdraw')
        ? ['The key can withdraw: take off Withdraw in Bitget’s API Key Management.']
        : []),
      ...(key.ips === '' || key.ips === null
        ? ['The key is not bound to an address: bind this server’s IP to it in Bitget’s API Key Management.']
        : []),
    ],
  };
}

const TRADES: readonly unknown[] = ['trade', 'coow', 'utow', 'uta_trade'];

/**
 * A classic account's key has a list of what it may, in words or in codes of four letters, the last of which tells reading from
 * writing. A unified one's says of itself whether it only reads, and lists what it may read, or read and write.
 */
function mayOnlyRead({ authorities, permType, permissions }: Row): boolean {
  if (/^read[-_ ]?only$/i.test(text(permType) ?? '')) return true;
  const mayTrade = (may: readonly unknown[]) => may.some((word) => TRADES.includes(word));
  if (Array.isArray(permissions)) return permissions.length > 0 && !mayTrade(permissions);
  if (!Array.isArray(authorities) || authorities.length === 0 || mayTrade(authorities)) return false;
  return authorities.every((word) => word === 'readonly' || /^[a-z0-9]{3}r$/.test(String(word)));
}

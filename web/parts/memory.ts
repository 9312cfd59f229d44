// What only this browser knows: which messages were copied here, and that the first steps were put away.

const COPIED = 'fillpath.copied.';
const AWAY = 'fillpath.first-steps-away';

export const isCopied = (accountId: string): boolean => remembers(COPIED + accountId);
export const noteCopied = (accountId: string): void => remember(COPIED + accountId);
export const arePutAway = (): boolean => remembers(AWAY);
export const putAway = (): void => remember(AWAY);

function remembers(key: string): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

function remember(key: string): void {
  try {
    localStorage.setItem(key, '1');
  } catch {
    // Storage is forbidden: then it is forgotten with the page.
  }
}

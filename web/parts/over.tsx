// What can be opened from anywhere: an order, what protects a position, and the kill switch. over-pages.tsx opens it.

import { createContext, useContext } from 'react';
import type { ProtectDraft, TradeDraft } from './drafts.ts';

export interface Over {
  openProtect(draft: ProtectDraft): void;
  openTrade(draft?: TradeDraft): void;
  /** Of one account, or of all. */
  openHalt(accountId?: string): void;
}

export const OverContext = createContext<Over>({ openProtect() {}, openTrade() {}, openHalt() {} });
export const useOver = (): Over => useContext(OverContext);

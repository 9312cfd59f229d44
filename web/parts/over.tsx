// What can be opened from anywhere: an order, and the kill switch. Both are loaded when they are first asked for.

import { createContext, lazy, type ReactNode, Suspense, useContext, useMemo, useState } from 'react';

export interface TradeDraft {
  readonly accountId?: string;
  readonly symbol?: string;
  readonly action?: 'buy' | 'sell' | 'close';
  readonly quantity?: number;
  readonly orderType?: 'entry' | 'exit';
  readonly simulation?: boolean;
}

interface Over {
  openTrade(draft?: TradeDraft): void;
  /** Of one account, or of all. */
  openHalt(accountId?: string): void;
}

const OverContext = createContext<Over>({ openTrade() {}, openHalt() {} });
export const useOver = (): Over => useContext(OverContext);

const TradeDrawer = lazy(() => import('../pages/trade/trade-drawer.tsx'));
const HaltDialog = lazy(() => import('../pages/halt/halt-dialog.tsx'));

export function OverPages({ children }: { readonly children: ReactNode }) {
  const [draft, setDraft] = useState<TradeDraft | null>(null);
  const [halting, setHalting] = useState<{ readonly accountId: string | null } | null>(null);
  const over = useMemo<Over>(
    () => ({
      openTrade: (wish = {}) => setDraft(wish),
      openHalt: (accountId) => setHalting({ accountId: accountId ?? null }),
    }),
    [],
  );
  return (
    <OverContext value={over}>
      {children}
      <Suspense>
        {draft && <TradeDrawer draft={draft} onClose={() => setDraft(null)} />}
        {halting && <HaltDialog accountId={halting.accountId} onClose={() => setHalting(null)} />}
      </Suspense>
    </OverContext>
  );
}

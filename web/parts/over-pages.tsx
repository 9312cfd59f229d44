// What stands over the pages when it is opened (over.tsx). The kill switch comes with the frame, so that nothing is left to be
// loaded when it is needed; the drawers are loaded soon after the first page, or when one is opened.

import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { HaltDialog } from '../pages/halt/halt-dialog.tsx';
import { useHalting } from '../pages/halt/halting.ts';
import type { ProtectDraft, TradeDraft } from './drafts.ts';
import { bringAhead } from './later.tsx';
import { type Over, OverContext } from './over.tsx';
import { OverFault } from './over-fault.tsx';

const loadTrade = () => import('../pages/trade/trade-drawer.tsx');
const TradeDrawer = lazy(loadTrade);
const loadProtect = () => import('../pages/protect/protect-drawer.tsx');
const ProtectDrawer = lazy(loadProtect);
bringAhead(loadProtect);
bringAhead(loadTrade);

export function OverPages({ children }: { readonly children: ReactNode }) {
  const [draft, setDraft] = useState<TradeDraft | null>(null);
  const [guarded, setGuarded] = useState<ProtectDraft | null>(null);
  const halting = useHalting();
  const [halts, setHalts] = useState<{ readonly accountId: string | null } | null>(null);
  const over = useMemo<Over>(
    () => ({
      // One drawer at a time.
      openProtect(of) {
        setDraft(null);
        setGuarded(of);
      },
      openTrade(wish = {}) {
        setGuarded(null);
        setDraft(wish);
      },
      openHalt: (accountId) => setHalts({ accountId: accountId ?? null }),
    }),
    [],
  );
  const leaveTrade = () => setDraft(null);
  const leaveProtect = () => setGuarded(null);
  const leaveHalt = () => {
    setHalts(null);
    halting.leave();
  };
  return (
    <OverContext value={over}>
      {children}
      {draft && (
        <OverFault onClose={leaveTrade}>
          <Suspense>
            <TradeDrawer draft={draft} onClose={leaveTrade} />
          </Suspense>
        </OverFault>
      )}
      {guarded && (
        <OverFault onClose={leaveProtect}>
          <Suspense>
            <ProtectDrawer draft={guarded} onClose={leaveProtect} />
          </Suspense>
        </OverFault>
      )}
      {halts && (
        <OverFault onClose={leaveHalt}>
          <HaltDialog accountId={halts.accountId} halting={halting} onClose={leaveHalt} />
        </OverFault>
      )}
    </OverContext>
  );
}

// What can be opened from anywhere: an order, and the kill switch. The kill switch comes with the frame, so that nothing is
// left to be loaded when it is needed; the order's drawer is loaded as soon as the frame stands.

import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react';
import { HaltDialog } from '../pages/halt/halt-dialog.tsx';
import { useHalting } from '../pages/halt/halting.ts';
import { OverFault } from './over-fault.tsx';

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

const loadTrade = () => import('../pages/trade/trade-drawer.tsx');
const TradeDrawer = lazy(loadTrade);

export function OverPages({ children }: { readonly children: ReactNode }) {
  const [draft, setDraft] = useState<TradeDraft | null>(null);
  const halting = useHalting();
  const [halts, setHalts] = useState<{ readonly accountId: string | null } | null>(null);
  const over = useMemo<Over>(
    () => ({
      openTrade: (wish = {}) => setDraft(wish),
      openHalt: (accountId) => setHalts({ accountId: accountId ?? null }),
    }),
    [],
  );
  useEffect(() => {
    // Failed, it is loaded again when it is opened.
    loadTrade().catch(() => {});
  }, []);
  const leaveTrade = () => setDraft(null);
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
      {halts && (
        <OverFault onClose={leaveHalt}>
          <HaltDialog accountId={halts.accountId} halting={halting} onClose={leaveHalt} />
        </OverFault>
      )}
    </OverContext>
  );
}

// A position without its stop: it is tried again, or the position is closed.

import { useQuery } from '@tanstack/react-query';
import { positions } from '../../api/broker-reads.ts';
import { useOver } from '../../parts/over.tsx';
import { TryAgain } from '../../parts/protection/try-again.tsx';
import { closeInWords } from './things.ts';
import styles from './things-to-do.module.css';

interface BareProps {
  readonly accountId: string;
  readonly symbol: string;
  readonly words: string;
  readonly onFault: (fault: unknown) => void;
}

export function Bare({ accountId, symbol, words, onFault }: BareProps) {
  const { openTrade } = useOver();
  const { data } = useQuery(positions(accountId));
  const held = data?.items.find((position) => position.symbol === symbol);
  return (
    <span className={styles.does}>
      <TryAgain
        accountId={accountId}
        symbol={symbol}
        simulation={false}
        stop={held?.protection?.stop_loss ?? null}
        words={words}
        onFault={onFault}
      />
      <button
        type="button"
        className="button trade"
        onClick={() => openTrade({ accountId, symbol, action: 'close' })}
      >
        {closeInWords(symbol, held?.quantity)}
      </button>
    </span>
  );
}

// A signal's story, from its message to its last trace: a headline in words, and below it what proves it.

import { useQuery } from '@tanstack/react-query';
import { accounts as allAccounts } from '../../api/queries.ts';
import { useTitle } from '../../parts/page.tsx';
import { sentAs, spelled } from '../../parts/symbol.ts';
import { BrokerWords } from './broker-words.tsx';
import { Checks } from './checks.tsx';
import { Curl } from './curl.tsx';
import { orderHeadline, type SignalRecord, signalHeadline } from './headline.ts';
import { Legs } from './legs.tsx';
import { Message } from './message.tsx';
import { Picture } from './picture.tsx';
import { instrumentOf } from './queries.ts';
import styles from './story.module.css';
import { type StoryOf, StoryTop } from './story-top.tsx';
import tiesStyles from './ties.module.css';
import { Ties } from './ties.tsx';
import { Unknown } from './unknown.tsx';
import { WaitsFor } from './waits-for.tsx';
import { Waterfall } from './waterfall.tsx';
import { WhatProtects } from './what-protects.tsx';

const withSymbol = (signal: SignalRecord, broker: string | undefined): SignalRecord =>
  signal.symbol === null ? signal : { ...signal, symbol: spelled(signal.symbol, broker) };

export function Story({ signal, order }: StoryOf) {
  const { data: accounts } = useQuery(allAccounts);
  const accountId = (order ?? signal)?.trading_account_id ?? '';
  const account = accounts?.find(({ id }) => id === accountId);
  const symbol = order?.symbol ?? signal?.symbol ?? null;
  const { data: instrument = null } = useQuery({
    ...instrumentOf(accountId, symbol ?? ''),
    enabled: symbol !== null && order !== null,
  });
  const broker = order?.broker_name ?? account?.broker;
  const named = order && { ...order, symbol: spelled(order.symbol, broker) };
  const headline = named
    ? orderHeadline(named, instrument?.tick_size ?? null)
    : signalHeadline(withSymbol(signal as SignalRecord, broker));
  useTitle(headline.lead);
  const isUnknown = order?.status === 'unknown';
  const of = { signal, order } as StoryOf;
  const message = (
    <div className="columns even">
      {signal && <Message signal={signal} order={order} account={account} instrument={instrument} />}
      <Checks signal={signal} order={order} account={account} />
    </div>
  );
  return (
    <article className={styles.story}>
      <StoryTop of={of} headline={headline} account={account} sentAs={symbol && sentAs(symbol, broker)} />
      {isUnknown && named && <Unknown order={named} />}
      {/* What protection closed nobody sent: there is no way from a message to an answer. */}
      {order && order.source !== 'protection' && <Waterfall order={order} signal={signal} />}
      {order && <WaitsFor order={order} />}
      {order && <WhatProtects order={order} />}
      {/* Where nobody knows, what was sent comes before why. */}
      {isUnknown ? null : message}
      {order && order.legs.length > 0 && <Legs order={order} />}
      {order && <Picture order={order} />}
      {isUnknown ? message : null}
      <div className="columns even">
        <div className={tiesStyles.ties}>
          {order && <BrokerWords order={order} />}
          {signal && <Curl signal={signal} account={account} />}
        </div>
        {named && <Ties order={named} />}
      </div>
    </article>
  );
}

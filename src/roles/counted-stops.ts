// Every call about stops that reaches a broker is counted, with what became of it.

import type { Brokers, OpenBroker, StopOutcome, Stops } from '../broker/broker.ts';
import type { BrokerName } from '../domain/brokers.ts';
import type { Counters, ProtectionCall } from '../domain/counters.ts';

type Counting = Pick<Counters, 'protectionCalled'>;

export const countingStops = (brokers: Brokers, counters: Counting): Brokers =>
  Object.fromEntries(
    Object.entries(brokers).map(([name, open]) => [name as BrokerName, counting(open, counters)]),
  ) as Record<BrokerName, OpenBroker>;

const counting =
  (open: OpenBroker, counters: Counting): OpenBroker =>
  async (account, signal) => {
    const broker = await open(account, signal);
    return broker.stops ? { ...broker, stops: counted(broker.stops, counters) } : broker;
  };

function counted(stops: Stops, counters: Counting): Stops {
  const ask = async <Answer>(
    call: ProtectionCall,
    answer: Promise<Answer>,
    outcomeOf: (answer: Answer) => StopOutcome['outcome'] | 'answered' = () => 'answered',
  ): Promise<Answer> => {
    try {
      counters.protectionCalled(call, outcomeOf(await answer));
    } catch {
      counters.protectionCalled(call, 'failed');
    }
    return answer;
  };
  const outcomeOf = ({ outcome }: StopOutcome) => outcome;
  const { move } = stops;
  return {
    ...stops,
    place: (stop, signal) => ask('place', stops.place(stop, signal), outcomeOf),
    ...(move && { move: (stop, to, signal) => ask('move', move(stop, to, signal), outcomeOf) }),
    remove: (stop, signal) => ask('remove', stops.remove(stop, signal)),
    standing: (instrument, signal) => ask('standing', stops.standing(instrument, signal)),
    find: (stop, signal) => ask('find', stops.find(stop, signal)),
  };
}

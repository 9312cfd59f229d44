// The setting `protection_defaults` of an account: read as it is given, and kept in one spelling. What the broker cannot keep is
// refused here, and not at the first entry.

import { BROKERS, type BrokerName } from '../../domain/brokers.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { whyUnsupported } from '../../domain/protection/ability.ts';
import { defaultsJson, readDefaults } from '../../domain/protection/defaults.ts';
import { unreadableSetting } from './account-refusals.ts';

/** null: none. */
export function keptDefaults(broker: BrokerName, given: unknown): { readonly kept: object | null } | Denial {
  const read = readDefaults(given);
  if ('problems' in read) return unreadableSetting(read);
  const { title, capabilities } = BROKERS[broker];
  for (const [symbol, wish] of Object.entries(read.defaults)) {
    const why = whyUnsupported(wish, { title, capabilities, quantity: null });
    if (why !== null)
      return deny('request_invalid', { detail: `protection_defaults ${JSON.stringify(symbol)}: ${why}` });
  }
  return { kept: Object.keys(read.defaults).length > 0 ? defaultsJson(read.defaults) : null };
}

// ccxt, as it is used here: the class of one exchange, and an object of it that asks nobody but `send`, waits for nothing of
// itself and knows no keys.

import { BrokerUnavailable } from '../broker.ts';
import type { AccountKind, Environment, ListedMarket, Profile } from './profile.ts';
import type { Send } from './wire.ts';

/** ccxt's exchange, as far as we use it; its methods are called by name. */
export interface Ccxt extends Record<string, unknown> {
  readonly options: Record<string, unknown>;
  /** By its own names of them. */
  markets: Readonly<Record<string, unknown>>;
  fetchMarkets(): Promise<readonly ListedMarket[]>;
  setMarkets(markets: readonly object[]): unknown;
  setSandboxMode(on: boolean): void;
  enableDemoTrading(on: boolean): void;
  handleErrors(
    status: number,
    reason: string,
    url: string,
    method: string,
    headers: unknown,
    body: string,
    response: unknown,
  ): unknown;
}

type CcxtClass = new (settings: Readonly<Record<string, unknown>>) => Ccxt;

/** Longer than any call: each has a limit of its own, over its body too. */
const NEVER_MS = 2_000_000_000;

export function environmentOf({ environments, title }: Profile, environment: string): Environment {
  const described = environments[environment];
  if (!described) throw new BrokerUnavailable(`${title} has no environment ${environment}.`);
  return described;
}

export async function makeCcxt(
  profile: Profile,
  {
    environment,
    kind,
    send,
  }: { readonly environment: string; readonly kind: AccountKind; readonly send: Send },
): Promise<Ccxt> {
  const { exchange, mode } = environmentOf(profile, environment);
  const ccxt = new (await loadClass(exchange))({
    enableRateLimit: false,
    timeout: NEVER_MS,
    number: String,
    fetchImplementation: send,
    options: { ...profile.options(kind), adjustForTimeDifference: false, timeDifference: 0 },
  });
  if (mode === 'sandbox') ccxt.setSandboxMode(true);
  if (mode === 'demo') ccxt.enableDemoTrading(true);
  profile.prepare?.(ccxt);
  return ccxt;
}

const classes = new Map<string, Promise<CcxtClass>>();

/** By its file: the whole package is a hundred exchanges. */
function loadClass(name: string): Promise<CcxtClass> {
  const known = classes.get(name);
  if (known) return known;
  const file = new URL(`./src/${name}.js`, import.meta.resolve('ccxt'));
  const loading = import(file.href).then((module: { default: CcxtClass }) => module.default);
  classes.set(name, loading);
  loading.catch(() => classes.delete(name));
  return loading;
}

// One signal's way through all processes, for who collects traces. Where nobody does, each of these is a call of a function and
// nothing more. Attributes are ids, names and outcomes of ours, and never a secret.
//
// A trace is `webhook` with `checks` and `commit`, `queue`, `execute` with each call to the broker, and `result`. Between processes
// it travels as `trace` beside the request in the mailbox's message. Of several orders that a worker works off, the one that the
// message is about is in its trace.

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  set(attributes: Attributes): void;
  /** The first call counts. */
  end(): void;
}

/** What travels with a message. Whoever does not know it leaves it alone. */
export interface Carried {
  /** As in W3C's header of this name. */
  readonly parent: string;
  /** When it was sent. */
  readonly at: number;
}

export interface Tracing {
  /**
   * A request, where a trace begins. `cause`: the header traceparent as it came. A stranger may have written it, so that it is
   * linked to, and decides nothing here.
   */
  request<T>(name: string, cause: string | null, work: (span: Span) => Promise<T>): Promise<T>;
  /** A part of what is under way here; outside of a trace only the work. */
  during<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T>;
  /** The same, for what has no function of its own. */
  begin(name: string): Span;
  /** For a message; null: nothing is traced here. */
  carried(): Carried | null;
  /** What a message that was carried here asks for, after its wait in the queue. */
  continued<T>(carried: Carried | null, work: () => Promise<T>): Promise<T>;
  /** Work that is no part of what is under way here. */
  apart<T>(work: () => Promise<T>): Promise<T>;
}

const NO_SPAN: Span = { set() {}, end() {} };

export const UNTRACED: Tracing = {
  request: (_name, _cause, work) => work(NO_SPAN),
  during: (_name, _attributes, work) => work(NO_SPAN),
  begin: () => NO_SPAN,
  carried: () => null,
  continued: (_carried, work) => work(),
  apart: (work) => work(),
};

/** How a span says which order it is about. */
export const traceNames = (order: {
  readonly id: string;
  readonly accountId: string;
  readonly action: string;
  readonly symbol: string;
}): Attributes => ({
  'fillpath.order_id': order.id,
  'fillpath.account_id': order.accountId,
  'fillpath.action': order.action,
  'fillpath.symbol': order.symbol,
});

// One spelling per instrument on every page and in every filter: the broker's. An alert may write it in other ways, which stand
// quiet beside it where there is room, and on hover where there is none.

/** Without the exchange in front; at the paper broker a perpetual is its spot. */
export function spelled(symbol: string, broker: string | null | undefined): string {
  const name = symbol.replace(/^[^:]*:(?=.)/, '').toUpperCase();
  return broker === 'paper' ? name.replace(/(?<=.)\.P$/, '') : name;
}

/** As it was sent, where that is another spelling. */
export const sentAs = (symbol: string, broker: string | null | undefined): string | null =>
  spelled(symbol, broker) === symbol ? null : symbol;

/** For a narrow column: the exchange in front goes first, and what tells it from others stays. */
export const shortSymbol = (symbol: string): string => symbol.replace(/^[^:]*:(?=.)/, '');

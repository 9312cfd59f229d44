// Every broker there is. A new one is a file and a line here: the compiler keeps the record complete.

import type { Brokers } from './broker.ts';
import { openPaper, type PaperDeps } from './paper/paper.ts';

export const openBrokers = (deps: PaperDeps): Brokers => ({
  paper: openPaper(deps),
});

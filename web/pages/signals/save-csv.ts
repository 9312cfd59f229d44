// The whole filtered list as a file, as far as the API filters it.

import { api, read } from '../../api/client.ts';
import { type Filters, queryOf } from './filters.ts';

export async function saveCsv(filters: Filters, dayStart: number): Promise<void> {
  const list = await read(
    api.GET('/trading/signals', {
      params: { query: queryOf(filters, dayStart) },
      headers: { Accept: 'text/csv' },
      parseAs: 'blob',
    }),
  );
  const link = document.createElement('a');
  link.href = URL.createObjectURL(list as unknown as Blob);
  link.download = 'fillpath-signals.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}

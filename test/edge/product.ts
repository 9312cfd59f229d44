// The real product as a process of its own behind the edge, with its first user and paper account.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { eventually, freePorts, keep, newFolder } from './kept.ts';

export type Product = Awaited<ReturnType<typeof startProduct>>;

export async function startProduct({ adminIp }: { adminIp: string }) {
  const folder = newFolder('product');
  const [port = 0] = await freePorts(1);
  const main = join(import.meta.dirname, '../../src/main.ts');
  const data = join(folder, 'data');
  const kept = keep(folder, [process.execPath, main], {
    PORT: String(port),
    DATA_DIR: data,
    EDGE: 'external',
    TRUSTED_PROXIES: '127.0.0.1/32',
    ADMIN_IPS: adminIp,
    EDGE_CHECKS_CERTIFICATES: 'true',
    // What is tested here are the edge's limits.
    RATE_LIMIT_REQUESTS: '100000',
  });
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () =>
    fetch(`${url}/health`).then(
      ({ ok }) => (ok ? true : null),
      () => null,
    );
  try {
    await eventually(isUp, kept.output);
    // The first user is made once the port is open.
    await eventually(async () => (kept.output().includes('/trading/orders') ? true : null), kept.output);
    const welcome = kept.output();
    const printed = (pattern: RegExp): string => {
      const found = pattern.exec(welcome)?.[1];
      if (!found) throw new Error(`the first start did not print ${pattern}: ${welcome}`);
      return found;
    };
    return {
      port,
      url,
      token: printed(/\/webhook\/([\w-]+)\/order/),
      secret: printed(/"secret":"([\w-]+)"/),
      apiKey: printed(/API key\s+(\S+)/),
      stop: kept.stop,
      /** The newest entry of an action, as it is stored; null where there is none. */
      audited(action: string): { ip_address: string; user_agent: string; request_path: string } | null {
        const db = new DatabaseSync(join(data, 'fillpath.sqlite'), { readOnly: true });
        try {
          const row = db
            .prepare(
              'select ip_address, user_agent, request_path from audit_logs where action = ? order by id desc limit 1',
            )
            .get(action);
          return (
            (row as { ip_address: string; user_agent: string; request_path: string } | undefined) ?? null
          );
        } finally {
          db.close();
        }
      },
    };
  } catch (fault) {
    await kept.stop();
    throw fault;
  }
}

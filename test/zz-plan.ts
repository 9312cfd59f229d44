import { mkdtempSync } from 'node:fs';
import { audit } from '../src/app/audit.ts';
import { auditKeyOf, sealAuditLog } from '../src/app/audit-chain.ts';
import { migrate } from '../src/data/migrate.ts';
import { openSqlite } from '../src/data/sqlite.ts';
import { openPostgres } from '../src/data/postgres.ts';
import { startPostgres } from './postgres-server.ts';
const auditKey = auditKeyOf(Buffer.alloc(32));
const entry = (i: number) => audit({ requestId: `r${i}`, ip: '1.2.3.4', userAgent: 'Mozilla/5.0', path: '/webhook/abcdef…/order', method: 'POST' }, { userId: null, action: 'webhook_order', failure: 'x', metadata: {} }, Date.now());
async function go(db: any) {
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 40; i++) await Promise.all(Array.from({ length: 50 }, (_, j) => db.commit([entry(j)])));
    const t = performance.now(); await sealAuditLog({ db, auditKey }); console.log(db.dialect, '2000 sealed in', (performance.now() - t).toFixed(0), 'ms');
  }
}
const s = openSqlite({ file: `${mkdtempSync('/tmp/m/')}/x.sqlite` }); await migrate(s, 0);
console.log(await s.all({ parts: ["explain query plan update audit_logs set chain_position = seal.column2, chain_hash = seal.column3 from (values (cast(1 as bigint), cast(2 as bigint), 'x'), (cast(1 as bigint), cast(2 as bigint), 'x')) as seal where audit_logs.id = seal.column1 and +audit_logs.chain_position is null"], values: [] }));
await go(s); await s.close();
const pg = await startPostgres(); const p = await openPostgres(pg); await migrate(p, 0); await go(p); await p.close(); await pg.stop();

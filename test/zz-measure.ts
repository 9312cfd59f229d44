import { mkdtempSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { auditKeyOf, sealAuditLog, verifyAuditLog } from '../src/app/audit-chain.ts';
import { audit } from '../src/app/audit.ts';
import { every } from '../src/app/background.ts';
import { countUnsealed } from '../src/data/audit-chain.ts';
import { migrate } from '../src/data/migrate.ts';
import { openPostgres } from '../src/data/postgres.ts';
import { openSqlite } from '../src/data/sqlite.ts';
import { startPostgres } from './postgres-server.ts';
const auditKey = auditKeyOf(Buffer.alloc(32));
const entry = (i: number) => audit({ requestId: `r${i}`, ip: '1.2.3.4', userAgent: 'Mozilla/5.0 (X11; Linux x86_64)', path: '/webhook/abcdef…/order', method: 'POST' }, { userId: null, action: 'webhook_order', failure: 'x', metadata: { code: 'webhook_not_found' } }, Date.now());
const pct = (a: number[], p: number) => a.toSorted((x, y) => x - y)[Math.ceil(a.length * p / 100) - 1]?.toFixed(1);
async function run(name: string, db: any, seal: boolean, perSecond = 2000) {
  const sealer = seal ? every(1000, () => sealAuditLog({ db, auditKey }), console as any) : null;
  const times: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 }); delay.enable();
  const begun = performance.now(); let made = 0; const pending: Promise<void>[] = [];
  while (performance.now() - begun < 15000) {
    const due = Math.floor((performance.now() - begun) / 1000 * perSecond);
    while (made < due) { made++; const at = performance.now(); pending.push(db.commit([entry(made)]).then(() => { times.push(performance.now() - at); })); }
    await new Promise((r) => setTimeout(r, 5));
  }
  await Promise.all(pending);
  const un = await countUnsealed(db);
  await sealer?.stop();
  const t = performance.now(); if (seal) await sealAuditLog({ db, auditKey });
  console.log(name, seal ? 'sealing' : 'without', `${made} entries; commit p50 ${pct(times, 50)} p99 ${pct(times, 99)} p99.9 ${pct(times, 99.9)} max ${pct(times, 100)} ms; loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} max ${(delay.max / 1e6).toFixed(1)} ms; unsealed at end ${un}; last seal ${(performance.now() - t).toFixed(0)} ms`);
}
const file = `${mkdtempSync('/tmp/m/')}/x.sqlite`;
const s = openSqlite({ file }); await migrate(s, 0);
await run('sqlite', s, false); await s.commit([{ parts: ['delete from audit_logs'], values: [] }]);
await run('sqlite', s, true);
const t0 = performance.now(); const v = await verifyAuditLog({ db: s, auditKey }, null); console.log('verify', v.head.entries, v.problems, (performance.now() - t0).toFixed(0), 'ms'); await s.close();
const pg = await startPostgres(); const p = await openPostgres(pg); await migrate(p, 0);
await run('postgres', p, false); await p.commit([{ parts: ['delete from audit_logs'], values: [] }]);
await run('postgres', p, true);
const t1 = performance.now(); const w = await verifyAuditLog({ db: p, auditKey }, null); console.log('verify', w.head.entries, w.problems, (performance.now() - t1).toFixed(0), 'ms'); await p.close(); await pg.stop();

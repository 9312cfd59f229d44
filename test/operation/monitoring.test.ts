// The alarms and the dashboard of deploy/kubernetes/monitoring, held against Prometheus' own tool and against what the service
// really says.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openPromtool } from '../servers/promtool.ts';
import { openWorld } from '../world.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/kubernetes/monitoring/', import.meta.url));
const fileOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
const rules = (parse(fileOf('alarms.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
  }[];
}
const dashboard = JSON.parse(fileOf('dashboard.json')) as {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
};
const charts = dashboard.panels.filter(({ type }) => type !== 'row');

/** Whose figures they are: the service's own by their prefix, and Prometheus' or others' by these names. */
const STRANGERS = new Set(['up', 'probe_success', 'kube_job_status_failed']);

/** Names of figures in an expression: what stands before a selector or a range, and no function, label or keyword. */
const figuresIn = (expr: string): string[] =>
  [
    ...new Set(
      (
        expr
          .replace(/"[^"]*"/g, '""')
          .replace(/\{[^}]*\}/g, '')
          .replace(/\b(by|without)\s*\([^)]*\)/g, '')
          .match(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g) ?? []
      ).filter((word) => word.includes('_') || word === 'up'),
    ),
  ].filter((word) => !word.startsWith('__') && !/^\$?_+rate_interval$/.test(word));

const promtool = openPromtool();
const skip = 'missing' in promtool ? { skip: promtool.missing } : {};
const run = (...args: string[]) => {
  assert.ok('run' in promtool);
  return promtool.run(...args);
};

describe('the alarms', () => {
  test('are rules that Prometheus takes', skip, () => {
    const { isContent, says } = run('check', 'rules', join(FOLDER, 'alarms.yaml'));
    assert.ok(isContent, says);
    assert.match(says, new RegExp(`SUCCESS: ${rules.length} rules`));
  });

  test('go off where they are to, and none on a calm day', skip, () => {
    const { isContent, says } = run('test', 'rules', join(FOLDER, 'alarms-test.yaml'));
    assert.ok(isContent, says);
  });

  test('that never go off, or always, are found by their test', skip, () => {
    const folder = mkdtempSync(join(tmpdir(), 'fillpath-alarms-'));
    try {
      cpSync(FOLDER, folder, { recursive: true });
      for (const [from, to] of [
        ['fillpath_orders_unknown) > 0', 'fillpath_orders_unknown) > 9'],
        ['fillpath_orders_unknown) > 0', 'fillpath_orders_unknown) >= 0'],
      ] as const) {
        writeFileSync(join(folder, 'alarms.yaml'), fileOf('alarms.yaml').replace(from, to));
        assert.ok(!run('test', 'rules', join(folder, 'alarms-test.yaml')).isContent, to);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('each have their test', () => {
    const { tests } = parse(fileOf('alarms-test.yaml')) as { tests: { name: string }[] };
    for (const { alert } of rules)
      assert.ok(
        tests.some(({ name }) => name === alert),
        alert,
      );
  });

  test('say in a sentence what is wrong, and where docs/operations/mend.md says what to do', () => {
    const document = readFileSync(new URL('../../docs/operations/mend.md', import.meta.url), 'utf8');
    for (const { alert, labels, annotations } of rules) {
      assert.match(labels.severity, /^(page|ticket)$/, alert);
      assert.match(annotations.summary, /^[A-Z].{10,}[^.]$/, alert);
      const anchor = /^docs\/operations\/mend\.md#([a-z]+)$/.exec(annotations.runbook_url)?.[1];
      assert.ok(anchor, alert);
      assert.equal(document.split(`<a id="${anchor}"></a>${alert} |`).length, 2, alert);
    }
  });
});

describe('the dashboard', () => {
  test('has panels that Grafana can show', () => {
    assert.equal(dashboard.uid, 'fillpath');
    assert.ok(dashboard.schemaVersion >= 36);
    assert.deepEqual(
      dashboard.templating.list.map(({ name, type }) => [name, type]),
      [['datasource', 'datasource']],
    );
    const ids = dashboard.panels.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const { title, gridPos, datasource, fieldConfig, targets = [] } of charts) {
      assert.ok(title.length > 0);
      assert.deepEqual(datasource, { type: 'prometheus', uid: `$${'{datasource}'}` }, title);
      assert.ok(fieldConfig?.defaults.unit, title);
      assert.ok(gridPos.x + gridPos.w <= 24, title);
      assert.ok(targets.length > 0, title);
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
      for (const { legendFormat } of targets) assert.ok(legendFormat.length > 0, title);
    }
    const places = new Set<string>();
    for (const { title, gridPos } of dashboard.panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(!places.has(`${x} ${y}`), `${title} lies on another one`);
          places.add(`${x} ${y}`);
        }
  });

  test('asks in a language that Prometheus understands', skip, () => {
    const folder = mkdtempSync(join(tmpdir(), 'fillpath-dashboard-'));
    try {
      const exprs = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
      const asRules = exprs.map((expr, n) => ({
        record: `panel:${n}`,
        expr: expr.replaceAll('$__rate_interval', '5m'),
      }));
      const file = join(folder, 'panels.yaml');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }));
      const { isContent, says } = run('check', 'rules', file);
      assert.ok(isContent, says);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test('alarms and dashboard ask for nothing that the service does not say, and the dashboard for all of it', async (t) => {
  const world = await openWorld(t);
  const now = timestamp(Date.now());
  // As after the first pruning.
  await world.db.commit([sql`insert into pruned (what, row_count, last_at) values ('rounds', 1, ${now})`]);
  await world.send(await world.makeTrader());
  const { body } = await world.request<string>({ method: 'GET', url: '/metrics' });
  const said = new Map(
    [...body.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const isSaid = (name: string) => {
    const family = name.replace(/_(bucket|count|sum)$/, '');
    return said.get(family) === 'histogram' ? family !== name : said.has(name);
  };
  for (const { alert, expr } of rules)
    for (const name of figuresIn(expr)) assert.ok(STRANGERS.has(name) || isSaid(name), `${alert}: ${name}`);
  const shown = charts.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => figuresIn(expr)));
  for (const name of shown) assert.ok(isSaid(name), name);
  const families = new Set(shown.map((name) => name.replace(/_(bucket|count|sum)$/, '')));
  const unseen = [...said.keys()].filter(
    (name) => name.startsWith('fillpath_') && !families.has(name) && !shown.includes(name),
  );
  assert.deepEqual(unseen, []);
});

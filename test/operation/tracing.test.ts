// One signal is one trace, from the webhook over the queue to the broker; and whoever collects none pays nothing.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startProgram } from '../orders/kill-harness.ts';
import { parentsIn, startCollector, traceOf, WAY } from '../servers/collector.ts';
import { logbook, openWorld } from '../world.ts';

describe('A trace', () => {
  test('has the whole way of a signal, with its order, its account and its outcome', async (t) => {
    const collector = await startCollector();
    t.after(() => collector.close());
    const world = await openWorld(t, {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=a%20key',
        OTEL_SERVICE_NAME: 'desk',
      },
    });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    await world.stop();
    const trace = traceOf(collector, body.order_id);
    assert.deepEqual(parentsIn(trace), WAY);
    // However many batches it took.
    assert.deepEqual([...new Set(collector.headers)], ['a key']);
    const ofOrder = {
      'fillpath.order_id': body.order_id,
      'fillpath.account_id': trader.account.id,
      'fillpath.action': 'buy',
      'fillpath.outcome': 'filled',
    };
    for (const name of ['webhook', 'execute'])
      assert.partialDeepStrictEqual(trace.find((span) => span.name === name)?.attributes, ofOrder);
    for (const text of collector.texts) {
      assert.ok(!text.includes(trader.secret), 'the secret of the webhook');
      assert.ok(!text.includes(trader.account.webhookToken), 'its token');
      assert.match(text, /"desk"/);
    }
  });

  test('of a refusal ends with its checks, and says why', async (t) => {
    const collector = await startCollector();
    t.after(() => collector.close());
    const world = await openWorld(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    await world.send(await world.makeTrader(), { secret: 'wrong' });
    await world.stop();
    assert.deepEqual(parentsIn(collector.spans), { webhook: null, checks: 'webhook' });
    const [webhook] = collector.spans.filter(({ name }) => name === 'webhook');
    assert.equal(webhook?.attributes['fillpath.outcome'], 'webhook_credential_attack');
  });

  test('is our own, and linked to the one that a sender names', async (t) => {
    const collector = await startCollector();
    t.after(() => collector.close());
    const world = await openWorld(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    const trader = await world.makeTrader();
    const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const { body } = await world.send(trader, {}, { headers: { traceparent: `00-${traceId}-${spanId}-00` } });
    await world.send(trader, {}, { headers: { traceparent: '00-rubbish' } });
    await world.stop();
    const root = traceOf(collector, body.order_id).find(({ name }) => name === 'webhook');
    assert.notEqual(root?.traceId, traceId);
    assert.partialDeepStrictEqual(root?.links, [{ traceId, spanId }]);
    assert.equal(collector.spans.filter(({ name }) => name === 'webhook').length, 2);
  });

  test('of a simulated order and of one from the dashboard are traces too', async (t) => {
    const collector = await startCollector();
    t.after(() => collector.close());
    const world = await openWorld(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    const trader = await world.makeTrader();
    const { body } = await world.as<{ order_id: string }>(trader, 'POST', '/trading/order', {
      trading_account_id: trader.account.id,
      action: 'buy',
      symbol: 'BTCUSDT',
      quantity: 1,
      simulation: true,
    });
    await world.stop();
    const { webhook: _, checks: __, ...way } = WAY;
    assert.partialDeepStrictEqual(
      Object.keys(parentsIn(traceOf(collector, body.order_id))).toSorted(),
      [...Object.keys(way), 'dashboard order'].toSorted(),
    );
  });
});

describe('A collector', () => {
  test('that never answers delays no order, and no stop', async (t) => {
    const collector = await startCollector({ answers: false });
    t.after(() => collector.close());
    const world = await openWorld(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    const trader = await world.makeTrader();
    const asked = collector.asked();
    assert.equal((await world.send(trader)).body.status, 'filled');
    // It has the first batch, and says nothing: the next order goes through meanwhile.
    await asked;
    assert.equal((await world.send(trader)).body.status, 'filled');
    await world.stop();
  });

  test('that is away is told of in the log, and orders go on', async (t) => {
    const collector = await startCollector();
    await collector.close();
    const { log, line } = logbook();
    const world = await openWorld(t, { log, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader)).body.status, 'filled');
    await line('traces could not be delivered', 20_000);
    assert.equal((await world.send(trader)).body.status, 'filled');
  });

  test('that nobody has configured costs nothing: no part of OpenTelemetry is loaded', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'fillpath-untraced-'));
    const hooks = `import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) {
        if (url.includes('opentelemetry')) console.log('loaded ' + url);
        return next(url, context);
      } });`;
    const command = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, 'src/main.ts'];
    try {
      for (const [env, isLoaded] of [
        [{}, false],
        [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, true],
      ] as const) {
        const program = startProgram(dir, env, command);
        await program.ready;
        await program.kill();
        assert.equal(/loaded .*opentelemetry/.test(await program.ended), isLoaded);
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

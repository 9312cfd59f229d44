import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { breaches, neverSaid, type OpenApi, type Spoken } from './openapi.ts';
import { BTC, stubDesk } from './stub-desk.ts';

const folder = process.env.FIXTURES_DIR;
const skip = folder ? false : 'FIXTURES_DIR names no folder with the OpenAPI documents';
const desk = stubDesk('binance', 'binanceusdm');

describe("Binance's stub, by the OpenAPI document of Binance's futures", { skip }, () => {
  it('answers as it says, to requests as it says', async () => {
    const api = parse(readFileSync(join(folder ?? '', 'binance/umfutures.yaml'), 'utf8')) as OpenApi;
    const { ccxt, change } = await desk.open();
    const spoken: Spoken[] = [];
    const send = ccxt.fetchImplementation;
    ccxt.fetchImplementation = async (address, init) => {
      const response = await send(address, init);
      const { pathname: path, searchParams } = new URL(String(address));
      const asked = Object.fromEntries([...searchParams, ...new URLSearchParams(String(init?.body ?? ''))]);
      const answer: unknown = await response.clone().json();
      if (path.startsWith('/fapi/'))
        spoken.push({ method: init?.method ?? 'GET', path, asked, status: response.status, answer });
      return response;
    };
    const order = await ccxt.createOrder(BTC, 'market', 'buy', 0.01, undefined, { clientOrderId: 'a' });
    await ccxt.fetchOrder(order.id, BTC);
    await ccxt.fetchClosedOrders(BTC);
    await ccxt.fetchMyTrades(BTC);
    await ccxt.fetchPositions();
    await ccxt.fetchPositionMode();
    await ccxt.fetchBalance();
    await ccxt.fetchBidsAsks([BTC]);
    await ccxt.fetchTime();
    await assert.rejects(ccxt.fetchOrder('1', BTC));
    await change({ paper: { latency_ms: 0, fill: 'never' } });
    const resting = await ccxt.createOrder(BTC, 'market', 'buy', 0.01);
    await ccxt.fetchOpenOrders(BTC);
    await ccxt.cancelOrder(resting.id, BTC);
    await change({ paper: { latency_ms: 0 } });
    const far = (await ccxt.fetchBidsAsks([BTC]))[BTC];
    const limit = Math.round((far?.ask ?? 0) * 1.5);
    const target = { reduceOnly: true, clientOrderId: 'fp1' };
    await ccxt.createOrder(BTC, 'limit', 'sell', 0.01, limit as never, target);
    await ccxt.fetchOpenOrders(BTC);
    assert.deepEqual(
      spoken.flatMap((each) => breaches(api, each)),
      [],
    );
    assert.ok(spoken.length > 12);

    // The document makes no field a must: what it names is to be there all the same.
    const answersTo = (method: string, path: string) =>
      spoken
        .filter((each) => each.method === method && each.path === path && each.status === 200)
        .flatMap(({ answer }) => answer as object[]);
    const trailing = ['activatePrice', 'priceRate'];
    const without = (fields: string[]) => fields.filter((field) => !trailing.includes(field));
    assert.deepEqual(without(neverSaid(api, 'CreateOrderV1Resp', answersTo('POST', '/fapi/v1/order'))), []);
    assert.deepEqual(without(neverSaid(api, 'GetOrderV1Resp', answersTo('GET', '/fapi/v1/order'))), []);
    assert.deepEqual(
      neverSaid(api, 'GetPositionRiskV3RespItem', answersTo('GET', '/fapi/v3/positionRisk')),
      [],
    );
    assert.deepEqual(neverSaid(api, 'GetUserTradesV1RespItem', answersTo('GET', '/fapi/v1/userTrades')), []);
  });
});

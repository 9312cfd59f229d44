// An account that demands the charting platform's certificate, at the real product behind the real edge.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openClient } from './client.ts';
import { type Edge, missingPackages, startEdge } from './nginx.ts';
import { type Product, startProduct } from './product.ts';

const skip = missingPackages();
if (skip) console.error(`The edge is not tested: ${skip}`);

describe('an account that demands the platform’s certificate, behind the edge', {
  skip,
  timeout: 120_000,
}, () => {
  let product: Product;
  let edge: Edge;
  let client: ReturnType<typeof openClient>;
  const stops: (() => unknown)[] = [];

  before(async () => {
    product = await startProduct({ adminIp: '127.0.0.10' });
    stops.push(product.stop);
    edge = await startEdge({
      productPort: product.port,
      local: {
        'client-cert.conf':
          'ssl_client_certificate TLS/charting-ca.pem; ssl_verify_client optional_no_ca; ssl_verify_depth 2;',
      },
    });
    stops.push(edge.stop);
    client = openClient(edge);
    stops.push(client.close);
    const headers = { authorization: `Bearer ${product.apiKey}` };
    const { body } = await client.ask('/trading/accounts', { headers });
    const [account] = body.items as { id: string }[];
    const demand = { method: 'PATCH', headers, body: { require_platform_certificate: true } };
    const changed = await client.ask(`/trading/accounts/${account?.id}`, demand);
    assert.equal(changed.status, 200, changed.text);
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  let signals = 0;
  const send = async (certificate: 'charting' | 'otherName' | 'stranger' | null, headers = {}) => {
    const signal = { action: 'buy', symbol: 'BTCUSDT', quantity: 0.01, secret: product.secret };
    const { status, body } = await client.ask(`/webhook/${product.token}/order`, {
      body: { ...signal, timestamp: new Date(Date.now() + signals++).toISOString() },
      headers,
      ...(certificate ? { certificate: edge.tls[certificate] } : {}),
    });
    return status === 200 ? body.status : body.code;
  };

  it('takes an alert with it', async () => assert.equal(await send('charting'), 'filled'));
  it('refuses one without, with another name’s and with another authority’s', async () => {
    for (const certificate of [null, 'otherName', 'stranger'] as const)
      assert.equal(await send(certificate), 'platform_certificate_missing');
  });
  it('refuses one that claims to have shown it', async () => {
    for (const name of ['x-charting-client-cert', 'X-CHARTING-CLIENT-CERT', 'x_charting_client_cert'])
      assert.equal(await send(null, { [name]: 'verified' }), 'platform_certificate_missing', name);
  });
});

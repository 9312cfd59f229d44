import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

/** Which packages a module and all that it imports have loaded, in a process of its own. */
async function loadedBy(module: string, then = ''): Promise<string[]> {
  const url = new URL(`../../src/${module}`, import.meta.url).href;
  const code = `
    import { registerHooks } from 'node:module';
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
        if (name) packages.add(name);
        return next(url, context);
      },
    });
    const loaded = await import(${JSON.stringify(url)});
    ${then}
    console.log(JSON.stringify([...packages]));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
  return JSON.parse(stdout) as string[];
}

const LIBRARIES = ['ccxt', '@alpacahq/alpaca-trade-api'];

describe('the registry of brokers', () => {
  it('loads no broker’s library before an account needs it, nor does the server', async () => {
    for (const module of ['broker/registry.ts', 'main.ts', 'roles/worker.ts']) {
      const packages = await loadedBy(module);
      assert.deepEqual(
        LIBRARIES.filter((name) => packages.includes(name)),
        [],
        module,
      );
    }
  });

  it('loads Alpaca’s with the first account there', async () => {
    const open = `
      const { alpaca } = loaded.openBrokers({ urls: { alpaca: 'http://127.0.0.1:1' } });
      const account = { id: 'a', environment: 'paper', credentials: { api_key: 'a', api_secret: 'b' } };
      await alpaca(account, AbortSignal.timeout(5_000)).catch(() => {});`;
    assert.ok((await loadedBy('broker/registry.ts', open)).includes('@alpacahq/alpaca-trade-api'));
  });
});

// The stream of order changes, with a browser's few parts played: how many are open, whatever happens at once.

import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, mock, test } from 'node:test';

/** Loaded by its address: it is compiled for a browser, whose types there are none of here. */
const { listen } = (await import(new URL('../../web/live/stream.ts', import.meta.url).href)) as {
  listen(userId: string, tell: (told: unknown) => void, onRefused: () => Promise<boolean>): () => void;
};

class PlayedSource {
  static readonly CLOSED = 2;
  static all: PlayedSource[] = [];
  static get open(): PlayedSource[] {
    return PlayedSource.all.filter(({ readyState }) => readyState !== PlayedSource.CLOSED);
  }
  readyState = 0;
  onopen = () => {};
  onerror = () => {};
  constructor() {
    PlayedSource.all.push(this);
  }
  addEventListener(): void {}
  close(): void {
    this.readyState = PlayedSource.CLOSED;
  }
  refuse(): void {
    this.close();
    this.onerror();
  }
}

const page = new EventTarget();
const parts = {
  EventSource: PlayedSource,
  addEventListener: page.addEventListener.bind(page),
  removeEventListener: page.removeEventListener.bind(page),
};
for (const [name, part] of Object.entries(parts)) Reflect.set(globalThis, name, part);
after(() => {
  for (const name of Object.keys(parts)) Reflect.deleteProperty(globalThis, name);
});

/** As long as promises take that wait for nothing else; timers are played. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const AGAIN_MS = 1_000;

describe('the stream', () => {
  beforeEach(() => {
    PlayedSource.all = [];
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  /** Refused, and asking whether the session can be refreshed. */
  async function refusedAndAsking(user: string) {
    const isIn = Promise.withResolvers<boolean>();
    const leave = listen(
      user,
      () => {},
      () => isIn.promise,
    );
    while (PlayedSource.all.length === 0) await settled();
    PlayedSource.all[0]?.refuse();
    mock.timers.tick(AGAIN_MS);
    await settled();
    return { leave, isIn };
  }

  test('is one, where the network comes back while it is asked whether the session goes on', async (t) => {
    const { leave, isIn } = await refusedAndAsking('one');
    t.after(leave);
    page.dispatchEvent(new Event('online'));
    assert.equal(PlayedSource.open.length, 1);
    isIn.resolve(true);
    await settled();
    assert.equal(PlayedSource.open.length, 1);
  });

  test('is opened again once the session goes on, and by nobody who has left', async () => {
    const { leave, isIn } = await refusedAndAsking('again');
    isIn.resolve(true);
    await settled();
    assert.equal(PlayedSource.open.length, 1);
    leave();
    assert.equal(PlayedSource.open.length, 0);
  });

  test('leaves nothing open at a logout', async () => {
    const { leave, isIn } = await refusedAndAsking('logout');
    page.dispatchEvent(new Event('online'));
    isIn.resolve(true);
    await settled();
    leave();
    assert.equal(PlayedSource.open.length, 0);
  });
});

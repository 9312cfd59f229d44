// What the pages cost who looks at them, with 10,000 orders behind them and the 4,750 trades that they are: the bytes of a
// first load, how long the service takes to answer of the trades, and the time from an input to the frame that answers it, in
// a real Chromium over the loopback. Two minutes, or more where others use the machine.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { argon2id } from '../src/app/identity/passwords.ts';
import { sql } from '../src/data/engine/db.ts';
import { migrate } from '../src/data/engine/migrate.ts';
import { openSqlite } from '../src/data/engine/sqlite.ts';
import { makeTrader, startProgram, type Trader } from '../test/orders/kill-harness.ts';
import { BrowserMissing, startBrowser } from '../test/servers/browser.ts';
import { freePort } from '../test/servers/free-port.ts';
import { openConnection, percentile } from './client.ts';
import { FILLED, signalsOf } from './orders.ts';
import { openTimer, type Reaction, type Timer } from './page-timer.ts';
import { writePast } from './past.ts';
import { cpuMs } from './usage.ts';

const ORDERS = 10_000;
const PASSWORD = 'a horse, a staple, a battery';
const MOST_KB = 200;
const MOST_MS = 100;
const ROWS = 1_000;
const BURST = 50;
const TIMES = 5;
/** Of a first load, by name. */
const LARGEST = 8;
/** After so long without an answer, everything of a first load is there. */
const QUIET_MS = 700;

/** Of the list, be they drawn or not. */
const rows = `Number(document.querySelector('table[aria-rowcount]')?.ariaRowCount ?? 0)`;
const drawn = `document.querySelectorAll('a[data-row]').length`;
const firstRow = `document.querySelector('a[data-row]')?.getAttribute('href')`;
/** Of the trades that are not listed yet; those that are drawn are near the window. */
const earlier = `Number(/of ([\\d,]+) earlier/.exec(document.querySelector('main').textContent)?.[1].replaceAll(',', ''))`;
/** Trades come so many at once. */
const LISTED = 50;
/** A row stands in the middle of the window, far down in the list. */
const FAR = 12_000;
const isBack = `scrollY > ${FAR / 2} && document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('tr')?.querySelector('a[data-row]')`;

interface Answer {
  readonly path: string;
  readonly isFile: boolean;
  readonly encoding: string;
  readonly headBytes: number;
  bytes: number;
}

interface Load {
  readonly path: string;
  readonly answers: readonly Answer[];
}

/** Everything that came over the wire for it, heads included, into an empty cache. */
async function firstLoad(context: BrowserContext, address: string, path: string): Promise<Load> {
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  const answers = new Map<string, Answer>();
  const underWay = new Set<string>();
  let lastHeard = performance.now();
  /** Scripts that are asked for from then on are of other pages, brought ahead. */
  let isThere = false;
  const ahead = new Set<string>();
  network.on('Network.requestWillBeSent', ({ requestId, type }) => {
    if (isThere && type === 'Script') ahead.add(requestId);
    // The stream stays open for as long as the page: its silence is no sign.
    else if (type !== 'EventSource') underWay.add(requestId);
  });
  network.on('Network.loadingFailed', ({ requestId }) => underWay.delete(requestId));
  network.on('Network.responseReceived', ({ requestId, type, response }) => {
    if (ahead.has(requestId)) return;
    const encoding = Object.entries(response.headers).find(([name]) => /^content-encoding$/i.test(name));
    answers.set(requestId, {
      path: new URL(response.url).pathname,
      isFile: !/^(?:XHR|Fetch|EventSource)$/.test(type),
      encoding: encoding?.[1] ?? 'plain',
      headBytes: response.encodedDataLength,
      bytes: response.encodedDataLength,
    });
  });
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const answer = answers.get(requestId);
    if (!answer) return;
    answer.bytes = encodedDataLength;
    underWay.delete(requestId);
    lastHeard = performance.now();
  });
  await page.goto(address + path);
  await page.waitForSelector('h1');
  isThere = true;
  await page.waitForSelector(path === '/signals' || path === '/trades' ? 'a[data-row]' : 'h1');
  while (underWay.size > 0 || performance.now() - lastHeard < QUIET_MS) await sleep(QUIET_MS / 5);
  await page.close();
  return { path, answers: [...answers.values()] };
}

async function firstLoads(browser: Browser, address: string, inside: string): Promise<Load[]> {
  const loads: Load[] = [];
  for (const path of ['/welcome', '/login', '/', '/signals', '/trades']) {
    const isOutside = path === '/welcome' || path === '/login';
    const context = await browser.newContext(isOutside ? {} : { storageState: JSON.parse(inside) });
    loads.push(await firstLoad(context, address, path));
    await context.close();
  }
  return loads;
}

/** What a browser keeps that has logged in. */
async function logIn(browser: Browser, address: string, { user }: Trader): Promise<string> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${address}/login`);
  await page.getByLabel('Email').fill(user.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(`${address}/`);
  const kept = JSON.stringify(await context.storageState());
  await context.close();
  return kept;
}

async function repeat(times: number, once: (n: number) => Promise<Reaction>): Promise<Reaction[]> {
  const reactions: Reaction[] = [];
  for (let n = 0; n < times; n++) reactions.push(await once(n));
  return reactions;
}

type Tell = (what: string, reactions: readonly Reaction[]) => void;

/** By the keyboard: what looks for buttons from outside takes longer than what is measured. */
const chooser =
  (page: Page, { press, rest }: Timer) =>
  async (selector: string, text: string, shown: string): Promise<Reaction> => {
    // Who chooses has come there, and sees it: what that drew is not what is measured.
    await page.evaluate(
      `[...document.querySelectorAll('${selector}')].find((each) => each.textContent.trim().startsWith('${text}')).focus()`,
    );
    await rest();
    return press('Enter', shown);
  };

async function reactions(
  page: Page,
  timer: Timer,
  address: string,
  burst: () => Promise<unknown>,
  tell: Tell,
): Promise<void> {
  const { press, call, rest, longTasks } = timer;
  const choose = chooser(page, timer);
  await page.goto(address);
  await page.waitForSelector('h1');
  // What everything is to be seen beside: a key that nobody listens to.
  tell('nothing', await repeat(20, () => press('q')));
  const opening: { signals: Reaction[]; today: Reaction[] } = { signals: [], today: [] };
  for (let n = 0; n < TIMES; n++) {
    await page.keyboard.press('g');
    opening.signals.push(await press('s', `${drawn} > 0`));
    await page.keyboard.press('g');
    opening.today.push(await press('t', `location.pathname === '/' && document.querySelector('main table')`));
  }
  tell('open Signals', opening.signals);
  tell('open Today', opening.today);

  await page.goto(`${address}/signals?time=all`);
  await page.waitForSelector('a[data-row]');
  const filters: Reaction[] = [];
  for (const name of ['refused', 'rejected', 'all', 'refused', 'all'])
    filters.push(await choose('search a', name, `${firstRow} !== '${await page.evaluate(firstRow)}'`));
  tell('change a filter', filters);

  const pages = [];
  for (let there = Number(await page.evaluate(rows)); there < ROWS; there = Number(await page.evaluate(rows)))
    pages.push(await choose('main button', 'Older', `${rows} > ${there}`));
  tell(`"Older", to row ${ROWS}`, pages);

  await page.evaluate(`scrollTo(0, ${FAR})`);
  await call('null', isBack);
  tell('j and k, in these rows', await repeat(20, (n) => press(n % 4 === 3 ? 'k' : 'j')));
  const stories: Reaction[] = [];
  const backs: Reaction[] = [];
  for (let n = 0; n < TIMES; n++) {
    stories.push(await press('Enter', `document.querySelector('article h1')`));
    backs.push(await call('history.back()', isBack));
    await page.keyboard.press('j');
    await rest();
  }
  tell('open a story', stories);
  tell('back to these rows', backs);

  const drawer: Reaction[] = [];
  for (let n = 0; n < TIMES; n++) {
    drawer.push(await press('t', `document.querySelector('aside input')`));
    await page.keyboard.press('Escape');
  }
  tell('open the trade drawer', drawer);

  await longTasks();
  let isOver = false;
  const sent = burst().then(() => {
    isOver = true;
  });
  const during: Reaction[] = [];
  while (!isOver) during.push(await press('j'));
  // What the changes set off comes a moment after the last.
  during.push(...(await repeat(20, () => press('j'))));
  await sent;
  await page.getByRole('button', { name: `Show ${BURST} new` }).waitFor();
  tell(`j, while ${BURST} orders change`, during);
  const long = await longTasks();
  if (long.length > 0)
    tell(
      `${long.length} tasks over 50 ms then`,
      long.map((ms) => ({ painted: ms, shown: ms, work: ms })),
    );
}

/** What the service answers of the trades: the first time, when all of them are counted, and then. */
async function tradesAnswers(page: Page, address: string, pid: number): Promise<void> {
  await page.goto(`${address}/login`);
  const ask = async (path: string) =>
    (await page.evaluate(`(async () => {
      const begun = performance.now();
      const answer = await fetch('${path}');
      const { items = [] } = await answer.json();
      return { ms: performance.now() - begun, status: answer.status, id: items[5]?.id };
    })()`)) as { readonly ms: number; readonly status: number; readonly id?: string };
  console.log(`\nanswer, ms, with ${ORDERS} orders          p50     worst      work   target < ${MOST_MS}`);
  const counted = await ask('/trading/trades');
  console.log(`  counted from the first order on   ${counted.ms.toFixed(0).padStart(8)}`);
  for (const path of ['/trading/trades', '/trading/trades/summary', `/trading/trades/${counted.id}`]) {
    const asked: number[] = [];
    const before = cpuMs(pid);
    for (let n = 0; n < TIMES * 2; n++) {
      const { ms, status } = await ask(path);
      if (status !== 200) throw new Error(`${path} was answered with ${status}`);
      asked.push(ms);
    }
    const [half = 0, worst = 0] = [50, 100].map((percent) => percentile(asked, percent));
    // What the service itself did for one of them: on a machine that others use, too, the rest is theirs.
    const work = (cpuMs(pid) - before) / asked.length;
    const figures = [half, worst, work].map((ms) => ms.toFixed(0).padStart(8));
    const byWork = half < MOST_MS ? '' : `; by its own work ${verdict(work < MOST_MS)}`;
    const name = path.replace(String(counted.id), '{id}');
    console.log(`  ${name.padEnd(33)} ${figures.join('  ')}   ${verdict(half < MOST_MS)}${byWork}`);
  }
}

/** The page of the trades: opened, asked for another time, scrolled with a thousand of them in it, a story and back. */
async function tradesReactions(page: Page, timer: Timer, address: string, tell: Tell): Promise<void> {
  const { press, call, rest } = timer;
  const choose = chooser(page, timer);
  await page.goto(address);
  await page.waitForSelector('h1');
  const opening: Reaction[] = [];
  for (let n = 0; n < TIMES; n++) {
    await page.keyboard.press('g');
    opening.push(await press('d', `location.pathname === '/trades' && ${drawn} > 0`));
    await page.keyboard.press('g');
    await press('t', `location.pathname === '/' && document.querySelector('main table')`);
  }
  tell('open Trades', opening);

  await page.goto(`${address}/trades?range=all`);
  await page.waitForSelector('a[data-row]');
  const heading = `document.querySelector('h1')?.textContent`;
  const filters: Reaction[] = [];
  for (const name of ['7 days', 'all', '90 days', 'all'])
    filters.push(await choose('search a', name, `${heading} !== '${await page.evaluate(heading)}'`));
  tell('change their time', filters);

  const pages = [];
  for (let there = LISTED; there < ROWS; there += LISTED) {
    const left = Number(await page.evaluate(earlier));
    pages.push(await choose('main button', 'Show ', `${earlier} < ${left}`));
  }
  tell(`earlier ones, to row ${ROWS}`, pages);
  tell('scroll in these rows', await repeat(20, (n) => call(`scrollTo(0, ${1_000 * (n + 1)})`, 'true')));

  const stories: Reaction[] = [];
  const backs: Reaction[] = [];
  for (let n = 0; n < TIMES; n++) {
    await page.evaluate(`document.querySelectorAll('a[data-row]')[${10 + n}].focus()`);
    await rest();
    stories.push(
      await press(
        'Enter',
        `location.pathname.startsWith('/trades/') && document.querySelector('main tbody tr')`,
      ),
    );
    backs.push(await call('history.back()', `location.pathname === '/trades' && ${drawn} > 0`));
    await rest();
  }
  tell('open a trade’s story', stories);
  tell('back to the trades', backs);
}

async function sendAtOnce(direct: string, trader: Trader): Promise<void> {
  const next = signalsOf([trader]);
  await Promise.all(
    Array.from({ length: BURST }, async (_, n) => {
      const connection = await openConnection(direct);
      const { path, body } = next(n);
      const answer = await connection.post(path, body);
      if (!FILLED.test(answer)) throw new Error(`not what was expected:\n${answer}`);
      connection.close();
    }),
  );
}

const verdict = (isOk: boolean) => (isOk ? 'ok' : 'over');

const kb = (answers: readonly Answer[], of: (answer: Answer) => number = ({ bytes }) => bytes): number =>
  answers.reduce((sum, answer) => sum + of(answer), 0) / 1000;

function printLoads(loads: readonly Load[]): void {
  console.log(`\nfirst load, kB               files    answers        sum   target < ${MOST_KB}`);
  for (const { path, answers } of loads) {
    const [files, others] = [true, false].map((isFile) => answers.filter((each) => each.isFile === isFile));
    const sum = kb(answers);
    const figures = [kb(files ?? []), kb(others ?? []), sum].map((each) => each.toFixed(1).padStart(8));
    const heads = kb(answers, ({ headBytes }) => headBytes).toFixed(1);
    const largest = answers
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, LARGEST)
      .map((each) => `${each.path.replace('/static/', '')} ${kb([each]).toFixed(1)} ${each.encoding}`);
    console.log(
      `  ${path.padEnd(23)} ${figures.join('   ')}   ${verdict(sum < MOST_KB)}; ${heads} of it the heads of ${answers.length}\n` +
        `    ${largest.join(', ')}`,
    );
  }
}

function printReactions(what: string, all: readonly Reaction[]): void {
  const of = (each: (reaction: Reaction) => number) =>
    [50, 100].map((percent) => percentile(all.map(each), percent));
  const [painted = 0, worstPainted = 0] = of((reaction) => reaction.painted);
  const [shown = 0, worstShown = 0] = of((reaction) => reaction.shown);
  const [work = 0, worstWork = 0] = of((reaction) => reaction.work);
  const figures = [painted, worstPainted, shown, worstShown, work, worstWork].map((ms) =>
    ms.toFixed(0).padStart(8),
  );
  const isOk = shown < MOST_MS;
  const byWork = isOk ? '' : `; by its own work ${verdict(work < MOST_MS)}`;
  console.log(`  ${what.padEnd(27)} ${figures.join('  ')}   ${verdict(isOk)}${byWork}`);
}

async function run(dir: string, browser: Browser): Promise<void> {
  await import('../web/build.ts');
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  const trader = await makeTrader(db, { latency_ms: 0, starting_cash: 1e12 });
  const passwordHash = await argon2id.hash(PASSWORD);
  await db.commit([sql`update users set password_hash = ${passwordHash} where id = ${trader.user.id}`]);
  await writePast(db, trader, ORDERS);
  await db.close();

  // By its number: pages of another origin than the service's own may not ask it.
  const server = startProgram(dir, { PORT: String(await freePort()) });
  const direct = await server.ready;
  const address = direct.replace('127.0.0.1', 'localhost');
  const inside = await logIn(browser, address, trader);
  const context = await browser.newContext({ storageState: JSON.parse(inside) });
  const page = await context.newPage();
  await tradesAnswers(page, address, server.pid);
  printLoads(await firstLoads(browser, address, inside));
  const timer = await openTimer(page);
  console.log(`\ninput → frame, ms, with ${ORDERS} orders`);
  console.log(
    `                             next p50     worst  shown p50     worst   work p50     worst   target < ${MOST_MS}`,
  );
  await tradesReactions(page, timer, address, printReactions);
  await reactions(page, timer, address, () => sendAtOnce(direct, trader), printReactions);
  const [load = 0] = loadavg();
  if (load > availableParallelism() * 1.5)
    console.log(`\nOthers were using the machine (load ${load.toFixed(1)}): the times are theirs, too.`);
  await server.kill();
}

const dir = mkdtempSync(join(tmpdir(), 'fillpath-bench-'));
try {
  const browser = await startBrowser();
  await run(dir, browser).finally(() => browser.close());
} catch (fault) {
  if (!(fault instanceof BrowserMissing)) throw fault;
  console.log(`The pages are not measured: ${fault.message}`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}

// A real Chromium for tests of pages: Debian's package, headless, with a profile of its own that ends with it.

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { isShared } from '../suite/shared.ts';
import { installPackage, isHalfInstalled } from './debian.ts';

const EXECUTABLE = '/usr/bin/chromium';

/**
 * What every window would begin besides the page: the panels of an address bar that nobody sees take as much of a processor as the window
 * itself. Then what playwright-core leaves out too: of two such lists Chromium reads the last.
 */
const NOT_NEEDED = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch', 'SkipListAccountsWithoutGaiaCookies'],
];

/** As root, without a GPU, and without a word to anybody but the page's own host. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${NOT_NEEDED.join(',')}`,
];

/** The browser is not installed and we may not install it: a reason to skip, not to fail. */
export class BrowserMissing extends Error {
  override readonly name = 'BrowserMissing';
}

let shared: Browser | undefined;

/** Where files share a process, they share the browser: whoever closes it closes the windows that are open. */
export async function startBrowser(): Promise<Browser> {
  mustBeInstalled();
  if (shared?.isConnected()) return shared;
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
  const end = browser.close.bind(browser);
  if (!isShared(end)) return browser;
  shared = browser;
  return Object.assign(browser, {
    close: async () => void (await Promise.all(browser.contexts().map((context) => context.close()))),
  });
}

function mustBeInstalled(): void {
  if (existsSync(EXECUTABLE) && !isHalfInstalled('chromium')) return;
  try {
    // First what it would do without: it is there as soon as its own package is.
    for (const name of ['fonts-dejavu-core', 'chromium']) installPackage(name);
  } catch (fault) {
    throw new BrowserMissing(`there is no ${EXECUTABLE}: ${(fault as Error).message}`);
  }
}

/** What went wrong in a page that nobody may see, and what it asked for. */
export interface Watch {
  /** Errors of the console, uncaught exceptions, failed requests. */
  readonly errors: string[];
  /** What the content security policy refused. */
  readonly violations: string[];
  /** Every URL that was asked for, data: URLs excepted. */
  readonly requests: string[];
}

/** Before the page goes anywhere. */
export async function watch(page: Page): Promise<Watch> {
  const watched: Watch = { errors: [], violations: [], requests: [] };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') watched.errors.push(message.text());
  });
  page.on('pageerror', (error) => watched.errors.push(String(error)));
  page.on('requestfailed', (request) =>
    watched.errors.push(`${request.url()} ${request.failure()?.errorText}`),
  );
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) watched.requests.push(request.url());
  });
  await page.exposeFunction('reportViolation', (text: string) => watched.violations.push(text));
  // As a text, because it runs there and not here; before anything of the page's own.
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    reportViolation(event.violatedDirective + ': ' + event.blockedURI))`);
  return watched;
}

// The composition root: configuration → adapters → roles. What is started last is stopped first.

import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { appKeyOf, openDatabase, openMailer } from './adapters.ts';
import { admitTradingRequest, authenticate } from './app/access.ts';
import { readPositions, readSymbols, verifyAccount } from './app/account-broker.ts';
import {
  createAccount,
  readAccount,
  readAccounts,
  regenerateSecret,
  regenerateToken,
  removeAccount,
  replaceCredentials,
  revealSecret,
  updateAccount,
} from './app/accounts.ts';
import {
  changeUserAsAdmin,
  makeFirstAdmin,
  publishTerms,
  readDeadLetters,
  readQueues,
  readUser,
  readUsers,
  readWorkers,
  retryDeadLetter,
  revokeSessionAsAdmin,
  stopWorker,
} from './app/admin.ts';
import { writeAudit } from './app/audit.ts';
import { auditKeyOf, sealAuditLog } from './app/audit-chain.ts';
import { afterwards, type Background, every } from './app/background.ts';
import { createCaptcha } from './app/captcha.ts';
import { placeDashboardOrder } from './app/dashboard-order.ts';
import { type FirstUser, publishFirstTerms, seedFirstUser, welcome } from './app/first-start.ts';
import { haltAccount, resumeAccount } from './app/halt.ts';
import { readHealth } from './app/health.ts';
import { ipList } from './app/ip-list.ts';
import { completeLogin, login, loginAtOnce } from './app/login.ts';
import { argon2id, forgotPassword, type PasswordHasher, register, resetPassword } from './app/passwords.ts';
import { readOrder, readOrders } from './app/read-orders.ts';
import { receiveWebhook } from './app/receive-webhook.ts';
import { rescueOrders } from './app/rescue-orders.ts';
import { confirmTotp, disableTotp, enrolTotp } from './app/second-factor.ts';
import { createSecretBox, randomToken } from './app/secret-box.ts';
import { readAuditLog, readSecurityAttacks } from './app/security-events.ts';
import { logout, readOwnSession, readSessions, refreshSession, revokeUserSession } from './app/sessions.ts';
import {
  acceptCurrentTerms,
  addAllowedIp,
  createApiKey,
  readAllowedIps,
  readApiKeys,
  readPlans,
  readSubscription,
  readTerms,
  removeAllowedIp,
  removeApiKey,
} from './app/settings.ts';
import { createTokens } from './app/tokens.ts';
import { verifyDueFills } from './app/verify-fills.ts';
import type { Brokers } from './broker/broker.ts';
import { openSimulated } from './broker/paper/paper.ts';
import { openBrokers } from './broker/registry.ts';
import { runCommand, USAGE } from './cli.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { describeConfig } from './config-table.ts';
import { migrate } from './data/migrate.ts';
import { openPaperLedger } from './data/paper-ledger.ts';
import { workerOrders } from './data/worker-orders.ts';
import { buildServer } from './http/server.ts';
import { credentialKeys, keptKey } from './keys.ts';
import { openLog } from './log.ts';
import type { Mailer } from './mail/mailer.ts';
import { openMemoryStore } from './store/memory.ts';
import type { Store } from './store/store.ts';
import { credentialsOpener } from './worker/credentials.ts';
import { startHost } from './worker/host.ts';
import { createMailbox } from './worker/mailbox.ts';
import { createPool } from './worker/pool.ts';
import { startWorker } from './worker/worker.ts';

/** How often the background looks for checks that are due and for orders that nobody works on. */
const VERIFY_EVERY_MS = 200;
const RESCUE_EVERY_MS = 2_000;
const RESCUE_GRACE_MS = 5_000;
const SEAL_EVERY_MS = 1_000;
/** At a stop, for the mails under way. */
const MAIL_PATIENCE_MS = 3_000;
/** A stop that takes longer is cut off: what is unfinished is recovered at the next start. */
const STOP_PATIENCE_MS = 10_000;

export interface Fillpath {
  readonly server: FastifyInstance;
  /** Made by this very start, on an empty database. */
  readonly firstUser: FirstUser | null;
  listen(): Promise<string>;
  stop(): Promise<void>;
}

/** For expiries: a step of the wall clock must neither free a claim nor freeze a window. */
const steady = { now: () => performance.timeOrigin + performance.now() };

/** What a test may bring of its own: at our own ports, and nowhere else. */
export interface Parts {
  readonly log?: Logger;
  readonly clock?: { now(): number };
  readonly wait?: (ms: number) => Promise<void>;
  readonly store?: Store;
  readonly brokers?: Brokers;
  readonly hasher?: PasswordHasher;
  readonly mailer?: Mailer;
}

/** Everything but listening. */
export async function openFillpath(config: Config, parts: Parts = {}): Promise<Fillpath> {
  const log = parts.log ?? openLog(config.logLevel);
  const clock = parts.clock ?? { now: () => Date.now() };
  const wait = parts.wait ?? ((ms: number) => sleep(ms));
  const { timings, tries, plans, rateLimit } = config;
  const closers: (() => unknown)[] = [];

  async function stop(): Promise<void> {
    const faults: unknown[] = [];
    for (const close of closers.splice(0).reverse())
      try {
        await close();
      } catch (fault) {
        // The rest is to be closed nevertheless.
        faults.push(fault);
      }
    if (faults.length > 0) throw faults[0];
  }

  try {
    const db = await openDatabase(config, closers);
    await migrate(db, clock.now());
    const ticking = parts.clock ?? steady;
    const store = parts.store ?? openMemoryStore({ clock: ticking });
    closers.push(() => store.close());
    const appKey = appKeyOf(config);
    const auditKey = auditKeyOf(appKey);
    // After everything that writes entries has ended.
    closers.push(() =>
      sealAuditLog({ db, auditKey }).catch((fault: unknown) =>
        log.error({ fault }, 'the audit log could not be sealed; it will be at the next start'),
      ),
    );
    const secrets = createSecretBox(appKey);

    const hasher = parts.hasher ?? argon2id;
    const decoyHash = await hasher.hash(randomToken());
    const { baseUrl, allowedOrigins } = config.http;
    const captcha = createCaptcha({
      settings: config.captcha,
      hosts: new Set([baseUrl, ...allowedOrigins].map((url) => new URL(url).hostname)),
      store,
      log,
    });
    const later = afterwards(log);
    // A mail server that hangs is not waited for: it is cut off, and what waited for it may note that in the database.
    closers.push(() => later.settled(MAIL_PATIENCE_MS));
    const mailer = parts.mailer ?? openMailer(config, closers);
    closers.push(() => later.settled(MAIL_PATIENCE_MS));
    const tokens = createTokens({ secret: config.keys.jwt ?? keptKey(config.data.dir, 'JWT_SECRET'), clock });

    const mailbox = createMailbox({ store });
    const pool = createPool({ store, startTimeoutMs: config.workers.startTimeoutMs });
    const ledger = openPaperLedger(db);
    const credentials = credentialKeys(config);
    const workerDeps = {
      mailbox,
      orders: workerOrders({ db, clock, firstPollMs: timings.fillFirstPollMs }),
      brokers: parts.brokers ?? openBrokers({ ledger, clock, wait }),
      simulated: openSimulated({ ledger, clock }),
      openCredentials: credentialsOpener(credentials.opening),
      clock,
      wait,
      log,
      reversalPolls: tries.reversalPolls,
      reversalPollMs: timings.reversalPollMs,
      idleMs: config.workers.idleMs,
    };
    const host = startHost({
      store,
      mailbox,
      startWorker: (user) => startWorker(workerDeps, user),
      poolSize: config.workers.poolSize,
      clock,
      log,
    });
    closers.push(() => host.stop());

    const termsVersion = await publishFirstTerms({ db, clock });
    const firstUser = config.seedUser
      ? await seedFirstUser({ db, clock, secrets, hasher }, termsVersion)
      : null;

    // What the service's functions take their dependencies from; each names the few that it uses.
    const deps = {
      ...{ db, clock, log, store, secrets, tokens, pool, mailbox, plans, rateLimit, ...timings },
      rules: { retries: tries.fillRetries, requeueMs: timings.fillRequeueMs },
      visibilityMs: timings.fillVisibilityMs,
      activeWorkers: () => host.workers().length,
      workers: host.workers,
      stopWorker: host.stopWorker,
      version: packageJson.version,
      ...{ hasher, decoyHash, captcha, mailer, later, baseUrl, lifetimes: config.auth },
      alertIntervalMs: config.mail.alertIntervalMs,
      auditKey,
      sealingKey: credentials.sealing,
    };
    const bind =
      <Args extends unknown[], Result>(does: (from: typeof deps, ...args: Args) => Result) =>
      (...args: Args) =>
        does(deps, ...args);

    // Before anything new is taken: whatever an earlier process left unfinished.
    await rescueOrders(deps, 0);
    const background: Background[] = [
      every(RESCUE_EVERY_MS, () => rescueOrders(deps, RESCUE_GRACE_MS), log),
      every(VERIFY_EVERY_MS, bind(verifyDueFills), log),
      every(SEAL_EVERY_MS, bind(sealAuditLog), log),
    ];
    closers.push(() => Promise.all(background.map((task) => task.stop())));

    const server = buildServer({
      clock,
      log,
      trustedProxies: ipList(config.http.trustedProxies.map(cidr)),
      readHealth: bind(readHealth),
      about: { version: packageJson.version, baseUrl },
      edge:
        config.edge.mode === 'external'
          ? null
          : { ...config.edge, chartingIps: ipList(config.edge.chartingIps.map(cidr)), now: ticking.now },
      middleware: {
        allowedOrigins,
        browserOnly: config.production,
        captchaProvider: config.captcha?.provider ?? null,
      },
      guard: {
        authenticate: bind(authenticate),
        audit: bind(writeAudit),
        adminIps: ipList(config.edge.adminIps.map(cidr)),
      },
      webhook: { receive: bind(receiveWebhook) },
      auth: {
        register: bind(register),
        login: bind(login),
        completeLogin: bind(completeLogin),
        refresh: bind(refreshSession),
        logout: bind(logout),
        forgotPassword: (request) => later.begin(() => forgotPassword(deps, request)),
        resetPassword: bind(resetPassword),
        readOwnSession: bind(readOwnSession),
        readSessions: bind(readSessions),
        revokeSession: bind(revokeUserSession),
        token: { loginAtOnce: bind(loginAtOnce) },
        secondFactor: {
          enrol: bind(enrolTotp),
          confirm: bind(confirmTotp),
          disable: bind(disableTotp),
        },
        cookies: config.auth,
      },
      admin: {
        makeFirstAdmin: bind(makeFirstAdmin),
        readWorkers: bind(readWorkers),
        stopWorker: bind(stopWorker),
        readQueues: bind(readQueues),
        readDeadLetters: bind(readDeadLetters),
        retryDeadLetter: bind(retryDeadLetter),
        readUsers: bind(readUsers),
        readUser: bind(readUser),
        changeUser: bind(changeUserAsAdmin),
        revokeSession: bind(revokeSessionAsAdmin),
        publishTerms: bind(publishTerms),
      },
      admission: { admit: bind(admitTradingRequest) },
      trading: { place: bind(placeDashboardOrder), readOrder: bind(readOrder), readOrders: bind(readOrders) },
      accounts: {
        readAccounts: bind(readAccounts),
        readAccount: bind(readAccount),
        createAccount: bind(createAccount),
        updateAccount: bind(updateAccount),
        removeAccount: bind(removeAccount),
        revealSecret: bind(revealSecret),
        regenerateSecret: bind(regenerateSecret),
        regenerateToken: bind(regenerateToken),
        replaceCredentials: bind(replaceCredentials),
        verifyAccount: bind(verifyAccount),
        readPositions: bind(readPositions),
        readSymbols: bind(readSymbols),
        haltAccount: bind(haltAccount),
        resumeAccount: bind(resumeAccount),
      },
      settings: {
        readApiKeys: bind(readApiKeys),
        createApiKey: bind(createApiKey),
        removeApiKey: bind(removeApiKey),
        readAllowedIps: bind(readAllowedIps),
        addAllowedIp: bind(addAllowedIp),
        removeAllowedIp: bind(removeAllowedIp),
        acceptTerms: bind(acceptCurrentTerms),
        readSubscription: bind(readSubscription),
        readSecurityAttacks: bind(readSecurityAttacks),
        readAuditLog: bind(readAuditLog),
      },
      open: {
        readPlans: bind(readPlans),
        readTerms: bind(readTerms),
        captcha: config.captcha,
        sealingKey: deps.sealingKey,
      },
    });
    closers.push(() => server.close());

    return {
      server,
      firstUser,
      stop,
      async listen() {
        await server.listen({ host: config.http.host, port: config.http.port });
        const { port } = server.server.address() as AddressInfo;
        return config.http.port === 0 ? `http://localhost:${port}` : config.http.baseUrl;
      },
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

const cidr = ({ address, prefix }: { address: string; prefix: number }) => `${address}/${prefix}`;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(`${USAGE}\n\n${describeConfig()}`);
    return;
  }
  if (existsSync('.env')) process.loadEnvFile();
  const config = readConfig(process.env);
  if (args.length > 0) {
    process.exitCode = await runCommand(config, args, { print: console.log, complain: console.error });
    return;
  }
  const fillpath = await openFillpath(config);
  const address = await fillpath.listen();
  if (fillpath.firstUser) console.log(welcome(fillpath.firstUser, address));
  console.log(`Fillpath ${packageJson.version} is ready at ${address}`);

  const stop = (signal: NodeJS.Signals) => {
    console.log(`${signal}: finishing what is under way`);
    setTimeout(() => process.exit(1), STOP_PATIENCE_MS).unref();
    void fillpath.stop().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

if (import.meta.main)
  main().catch((fault: unknown) => {
    console.error(fault instanceof ConfigError ? fault.message : fault);
    // Of a command, 1 is a finding.
    process.exit(process.argv.length > 2 ? 2 : 1);
  });

// ROLE=api: the HTTP service, wired to what the service does.

import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import * as atBroker from '../app/accounts/account-broker.ts';
import {
  regenerateSecret,
  regenerateToken,
  replaceCredentials,
  revealSecret,
} from '../app/accounts/account-keys.ts';
import { createAccount, readAccount, updateAccount } from '../app/accounts/accounts.ts';
import { readCandles } from '../app/accounts/candles.ts';
import { beginningOfDay } from '../app/accounts/day-equity.ts';
import {
  createGroup,
  readGroup,
  regenerateGroupSecret,
  regenerateGroupToken,
  removeGroup,
  revealGroupSecret,
  updateGroup,
} from '../app/accounts/groups.ts';
import { blockList } from '../app/accounts/ip-list.ts';
import { readPositions } from '../app/accounts/read-positions.ts';
import { removeAccount } from '../app/accounts/remove-account.ts';
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
} from '../app/accounts/settings.ts';
import { writeAudit } from '../app/audit/audit.ts';
import { auditKeyOf } from '../app/audit/chain.ts';
import type { Sealer } from '../app/audit/sealing.ts';
import { countOverLimit, countStrangers } from '../app/audit/strangers.ts';
import { afterwards, every } from '../app/background.ts';
import { admitTradingRequest, authenticate, isStillIn } from '../app/identity/access.ts';
import { resendVerification, verifyEmail } from '../app/identity/addresses.ts';
import { logoutEverywhere, readAfterTheft, secureUser } from '../app/identity/after-theft.ts';
import { createCaptcha } from '../app/identity/captcha.ts';
import { changePassword } from '../app/identity/change-password.ts';
import { completeLogin, login, loginAtOnce } from '../app/identity/login.ts';
import { argon2id, forgotPassword, register, resetPassword } from '../app/identity/passwords.ts';
import { confirmTotp, disableTotp, enrolTotp } from '../app/identity/second-factor.ts';
import {
  logout,
  readOwnSession,
  readSessions,
  refreshSession,
  revokeUserSession,
} from '../app/identity/sessions.ts';
import { createTokens } from '../app/identity/tokens.ts';
import { createTurns } from '../app/identity/turns.ts';
import { boundMails } from '../app/notifications/bounded-mail.ts';
import {
  addDestination,
  changeUserDestination,
  readDeliveries,
  readDestination,
  readDestinations,
  removeDestination,
  tryDestination,
} from '../app/notifications/destinations.ts';
import { mailDead } from '../app/notifications/mail-dead.ts';
import {
  changeUserAsAdmin,
  makeFirstAdmin,
  publishTerms,
  readQueues,
  readUser,
  readWorkers,
  retryDeadLetter,
  revokeSessionAsAdmin,
  stopWorker,
} from '../app/operation/admin.ts';
import { bindSecrets } from '../app/operation/bind-secrets.ts';
import { type FirstUser, publishFirstTerms, seedFirstUser } from '../app/operation/first-start.ts';
import { readHealth } from '../app/operation/health.ts';
import { readFigures } from '../app/operation/metrics.ts';
import { tellNotices, watchSilence } from '../app/operation/notices.ts';
import { readUnreadable } from '../app/operation/unreadable.ts';
import { alignPosition } from '../app/orders/align.ts';
import { cancelOrder } from '../app/orders/cancel-order.ts';
import { checkGroupMessage, checkMessage } from '../app/orders/check-message.ts';
import { openFeeds } from '../app/orders/feeds.ts';
import { haltAccount, resumeAccount } from '../app/orders/halt.ts';
import { createHearingTurns } from '../app/orders/hearing-turns.ts';
import { lookNow } from '../app/orders/look-now.ts';
import { planAsked } from '../app/orders/plan-group.ts';
import { readOrder, readStory } from '../app/orders/read-orders.ts';
import { readSignal } from '../app/orders/read-signals.ts';
import { settleOrder } from '../app/orders/settle-order.ts';
import { openOrderStream } from '../app/orders/stream-orders.ts';
import { placeTraced, receiveTraced } from '../app/orders/traced.ts';
import { lookAtProtection, readProtection } from '../app/protection/read-protections.ts';
import { resumeProtectionOf } from '../app/protection/resume.ts';
import { createSecretBox, openingOnce, randomToken } from '../app/secret-box.ts';
import { openPaper } from '../broker/paper/paper.ts';
import type { Config } from '../config/config.ts';
import { keptKey, sealingKeyOf } from '../config/keys.ts';
import { openPaperLedger } from '../data/orders/paper-ledger.ts';
import { restoredAt } from '../data/orders/restored.ts';
import type { Counters } from '../domain/counters.ts';
import { type AccountId, millis } from '../domain/ids.ts';
import type { PaperSettings } from '../domain/paper-settings.ts';
import { ownHosts } from '../http/hosts.ts';
import { buildServer } from '../http/server.ts';
import type { Mailer } from '../mail/mailer.ts';
import { openOutbox } from '../mail/outbox.ts';
import { openSmtp } from '../mail/smtp.ts';
import { METRICS_TYPE } from '../telemetry/prometheus.ts';
import { appKeyOf } from './adapters.ts';
import { type Foundation, giveUpMs } from './foundation.ts';
import { leaveMessageKey } from './message-key.ts';
import { openReading } from './reading.ts';

/** At a stop, for the mails under way. */
const MAIL_PATIENCE_MS = 3_000;

export interface Api {
  readonly server: FastifyInstance;
  /** On an empty database, where it is asked for. Once the port is open: what it tells is told once. */
  makeFirstUser(): Promise<FirstUser | null>;
}

const TELL_EVERY_MS = 5_000;
const SILENCE_EVERY_MS = 15_000;

/** `sealer`: where this process has one, it knows first that the audit log is not sealed any more. */
export async function openApi(base: Foundation, sealer: Pick<Sealer, 'problem'> | null): Promise<Api> {
  const { config, parts, log, clock, ticking, counters, db, closers } = base;
  const { timings, plans, rateLimit } = config;
  const appKey = appKeyOf(config);
  const secrets = createSecretBox(appKey);
  const hasher = parts.hasher ?? argon2id;
  const decoyHash = await hasher.hash(randomToken());
  const { baseUrl, allowedOrigins } = config.http;
  const captcha = createCaptcha({
    settings: config.captcha,
    hosts: new Set([baseUrl, ...allowedOrigins].map((url) => new URL(url).hostname)),
    log,
  });
  const later = afterwards(log);
  // A mail server that hangs is not waited for: it is cut off, and what waited for it may note that in the database.
  closers.push(() => later.settled(MAIL_PATIENCE_MS));
  const { verifyEmail: mustVerify } = config.mail;
  const mailer = boundMails({
    ...{ db, clock, counters, verifyEmail: mustVerify },
    mailer: countedMailer(parts.mailer ?? openMailer(config, closers), counters),
  });
  closers.push(() => later.settled(MAIL_PATIENCE_MS));
  const notices = { db, clock, log, mailer, baseUrl };
  const telling = [
    every(TELL_EVERY_MS, () => tellNotices(notices), log),
    every(SILENCE_EVERY_MS, () => watchSilence(notices), log),
    every(SILENCE_EVERY_MS, () => mailDead(notices), log),
  ];
  closers.push(async () => void (await Promise.all(telling.map((round) => round.stop()))));
  const strangers = countStrangers({ db, clock, log });
  const overLimit = countOverLimit({ db, clock, log });
  closers.push(async () => void (await Promise.all([strangers.stop(), overLimit.stop()])));
  const tokens = createTokens({ secret: config.keys.jwt ?? keptKey(config.data.dir, 'JWT_SECRET'), clock });

  const feeds = openFeeds(base);
  closers.push(() => feeds.stop());

  if (config.data.redisUrl) await leaveMessageKey(config, base);
  await bindSecrets({ db, secrets, log });
  const termsVersion = await publishFirstTerms({ db, clock });

  const restored = await restoredAt(db);

  // What the service's functions take their dependencies from; each names the few that it uses.
  const openBook = openPaper({ ledger: openPaperLedger(db), clock, wait: base.wait });
  const settlePaper = async (id: AccountId, paper: PaperSettings, isJump: boolean) => {
    const { signal } = new AbortController();
    await (await openBook({ id, paper }, signal)).settle(isJump, signal);
  };
  const deps = {
    ...{ ...base, secrets, tokens, strangers, overLimit, feeds, plans, rateLimit, ...timings },
    ...{ hasher, turns: createTurns(), decoyHash, captcha, mailer, later, baseUrl, lifetimes: config.auth },
    role: config.role,
    restoredAt: restored === null ? 0 : millis(restored),
    sealer,
    fillRetries: config.tries.fillRetries,
    looking: { requeueMs: timings.fillRequeueMs, giveUpMs: giveUpMs(config) },
    visibilityMs: timings.fillVisibilityMs,
    alertIntervalMs: config.mail.alertIntervalMs,
    verifyEmail: mustVerify,
    auditKey: auditKeyOf(appKey),
    sealingKey: sealingKeyOf(config),
    checksCertificates: config.http.checksCertificates,
    privateNetworks: config.notify.privateNetworks,
  };
  const bind =
    <Args extends unknown[], Result>(does: (from: typeof deps, ...args: Args) => Result) =>
    (...args: Args) =>
      does(deps, ...args);

  const atWebhook = { ...deps, secrets: openingOnce(secrets), hearingTurns: createHearingTurns() };
  const reading = openReading(base, deps);
  const server = buildServer({
    clock,
    log,
    trustedProxies: blockList(config.http.trustedProxies),
    checksCertificates: config.http.checksCertificates,
    connections: config.http.connections,
    service: {
      readHealth: bind(readHealth),
      metrics: { read: async () => counters.expose(await readFigures(deps)), type: METRICS_TYPE },
    },
    counters,
    about: { version: base.version, baseUrl },
    pagesFolder: join(import.meta.dirname, '..', '..', 'web', 'dist'),
    edge:
      config.edge.mode === 'external'
        ? null
        : { ...config.edge, chartingIps: blockList(config.edge.chartingIps), now: ticking.now },
    middleware: {
      allowedOrigins,
      browserOnly: config.production,
      captchaProvider: config.captcha?.provider ?? null,
    },
    guard: {
      authenticate: bind(authenticate),
      audit: bind(writeAudit),
      adminIps: blockList(config.edge.adminIps),
      isOwnHost: ownHosts(config.http),
    },
    webhook: { receive: (request) => receiveTraced(atWebhook, request) },
    auth: {
      register: bind(register),
      login: bind(login),
      completeLogin: bind(completeLogin),
      refresh: bind(refreshSession),
      logout: bind(logout),
      forgotPassword: (request) => later.begin(() => forgotPassword(deps, request)),
      resetPassword: bind(resetPassword),
      changePassword: bind(changePassword),
      readOwnSession: bind(readOwnSession),
      readSessions: bind(readSessions),
      revokeSession: bind(revokeUserSession),
      verifyEmail: { verify: bind(verifyEmail), resend: bind(resendVerification) },
      token: { loginAtOnce: bind(loginAtOnce) },
      secondFactor: {
        enrol: bind(enrolTotp),
        confirm: bind(confirmTotp),
        disable: bind(disableTotp),
      },
      cookies: config.auth,
    },
    afterTheft: {
      logoutEverywhere: bind(logoutEverywhere),
      readAfterTheft: bind(readAfterTheft),
    },
    admin: {
      makeFirstAdmin: bind(makeFirstAdmin),
      readWorkers: bind(readWorkers),
      stopWorker: bind(stopWorker),
      readQueues: bind(readQueues),
      readUnreadable: bind(readUnreadable),
      readDeadLetters: reading.deadLetters,
      retryDeadLetter: bind(retryDeadLetter),
      readUsers: reading.users,
      readUser: bind(readUser),
      changeUser: bind(changeUserAsAdmin),
      secureUser: bind(secureUser),
      revokeSession: bind(revokeSessionAsAdmin),
      publishTerms: bind(publishTerms),
    },
    admission: { admit: bind(admitTradingRequest) },
    trading: {
      place: bind(placeTraced),
      readOrder: bind(readOrder),
      readStory: bind(readStory),
      readOrders: reading.orders,
    },
    orderStream: { openStream: bind(openOrderStream), isStillIn: bind(isStillIn) },
    performance: { readPerformance: reading.performance },
    trades: reading,
    overview: { readOverview: reading.overview },
    look: { lookNow: bind(lookNow), cancelOrder: bind(cancelOrder) },
    settle: { settleOrder: bind(settleOrder) },
    protections: {
      readProtections: reading.protections,
      readProtection: bind(readProtection),
      lookAtProtection: bind(lookAtProtection),
      resumeProtection: bind(resumeProtectionOf),
    },
    signals: {
      readSignals: reading.signals,
      readSignal: bind(readSignal),
      checkMessage: bind(checkMessage),
      planOrder: bind(planAsked),
    },
    accounts: {
      readAccounts: reading.accounts,
      readAccount: bind(readAccount),
      createAccount: bind(createAccount),
      updateAccount: (...args) =>
        updateAccount({ ...deps, beginningOfDay: bind(beginningOfDay), settlePaper }, ...args),
      removeAccount: bind(removeAccount),
      revealSecret: bind(revealSecret),
      regenerateSecret: bind(regenerateSecret),
      regenerateToken: bind(regenerateToken),
      replaceCredentials: bind(replaceCredentials),
      verifyAccount: bind(atBroker.verifyAccount),
      readPositions: bind(readPositions),
      resetSimulation: bind(atBroker.resetSimulation),
      alignPosition: bind(alignPosition),
      readBalance: bind(atBroker.readBalance),
      readOpenOrders: bind(atBroker.readOpenOrders),
      readQuote: bind(atBroker.readQuote),
      readCandles: bind(readCandles),
      readSymbols: bind(atBroker.readSymbols),
      haltAccount: bind(haltAccount),
      resumeAccount: bind(resumeAccount),
    },
    groups: {
      readGroups: reading.groups,
      readGroup: bind(readGroup),
      createGroup: bind(createGroup),
      updateGroup: bind(updateGroup),
      removeGroup: bind(removeGroup),
      revealGroupSecret: bind(revealGroupSecret),
      regenerateGroupSecret: bind(regenerateGroupSecret),
      regenerateGroupToken: bind(regenerateGroupToken),
      checkGroupMessage: bind(checkGroupMessage),
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
      readSecurityAttacks: reading.attacks,
      readAuditLog: reading.auditLog,
    },
    notifications: {
      readDestinations: bind(readDestinations),
      readDestination: bind(readDestination),
      addDestination: bind(addDestination),
      changeDestination: bind(changeUserDestination),
      removeDestination: bind(removeDestination),
      tryDestination: bind(tryDestination),
      readDeliveries: bind(readDeliveries),
    },
    open: {
      readPlans: bind(readPlans),
      readTerms: bind(readTerms),
      captcha: config.captcha,
      canMail: config.mail.smtpUrl !== undefined,
      verifyEmail: mustVerify,
      demo: parts.demo ?? null,
      sealingKey: deps.sealingKey,
    },
  });
  closers.push(() => server.close());
  return {
    server,
    makeFirstUser: async () =>
      config.seedUser ? seedFirstUser({ db, clock, secrets, hasher }, termsVersion) : null,
  };
}

function openMailer({ mail: { smtpUrl, from }, data }: Config, closers: Foundation['closers']): Mailer {
  if (!smtpUrl) return openOutbox({ folder: join(data.dir, 'outbox'), from });
  const smtp = openSmtp({ url: smtpUrl, from });
  closers.push(() => smtp.close());
  return smtp;
}

/** Mails are counted where they leave, whoever wrote them. */
const countedMailer = (mailer: Mailer, counters: Counters): Mailer => ({
  async send(mail) {
    try {
      await mailer.send(mail);
    } catch (fault) {
      counters.notified('mail', 'failed');
      throw fault;
    }
    counters.notified('mail', 'sent');
  },
});

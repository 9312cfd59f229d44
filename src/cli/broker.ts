// The first real trade at a broker, step by step, in the smallest size; and what a transcript of it is worth when it is read again.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Held, holdAccount, releaseAccount } from '../app/trial/hold.ts';
import { finishTrial, type Outcome, type Proposal, runTrial } from '../app/trial/trial.ts';
import { type Account, accountsNamed } from '../data/accounts/accounts.ts';
import { BROKERS, type BrokerName, isRealMoney } from '../domain/brokers.ts';
import { type Decimal, decimal, parseDecimal, sign } from '../domain/decimal.ts';
import { asOperator, type Operator } from '../roles/operator.ts';
import { compareFile, openTrialRoom, type TrialRoom } from '../roles/trial.ts';
import { type AddCommands, type Desk, examples, JSON_OPTION, type WithJson } from './desk.ts';
import { type ExitCode, type Output, visible } from './output.ts';
import { CHANGED_MEANWHILE, tellComparison, tellOutcome } from './trial-words.ts';

interface TryOptions extends WithJson {
  readonly account: string;
  readonly symbol?: string;
  readonly atMost?: string;
  readonly quantity?: string;
  readonly file?: string;
  readonly yes?: true;
}

/** Where nobody says: what is liquid and cheap there. */
const SYMBOLS: Readonly<Record<BrokerName, string>> = {
  paper: 'BTCUSDT',
  binance: 'ETHUSDT.P',
  bybit: 'ETHUSDT.P',
  okx: 'ETHUSDT.P',
  gate: 'ETHUSDT.P',
  bitget: 'ETHUSDT.P',
  alpaca: 'F',
  shioaji: 'TAIFEX:TMF1!',
};
/** The most that is bought where nobody says, by the account's currency. */
const AT_MOST: Readonly<Record<string, string>> = { TWD: '300000' };
const USUALLY_AT_MOST = '250';
const MOST_NAMED = 20;

export const broker: AddCommands = (noun, desk) => {
  const { output, does } = desk;
  noun
    .command('try')
    .description(
      'go through everything that is assumed of a broker, with the smallest order that its market takes',
    )
    .requiredOption('--account <account>', 'by name or id; its credentials must be verified')
    .option(
      '--symbol <symbol>',
      'what is traded; without it the first that the account allows, or something cheap there',
    )
    .option(
      '--at-most <value>',
      `refuse where the order is worth more, in the account's currency; ${USUALLY_AT_MOST}, or 300000 TWD`,
    )
    .option('--quantity <number>', 'more than the smallest, where the broker refuses that')
    .option('--file <file>', 'where the transcript is written; without it into DATA_DIR/trials')
    .option('-y, --yes', 'do not ask; never on a live account')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
It asks first (clock, key, market, price, balance), says what it will buy and what that costs, and sends nothing before you agree: on a
live account by typing the account's name. Then it places and cancels a limit order far from the market, buys the smallest size, looks
it up, sets, moves and removes a stop, and sells it again. It ends at the first surprise, with what it bought sold. The account is halted
meanwhile. If it is interrupted, run it again: it closes what it opened. docs/first-real-trade.md tells more.
${examples('broker try --account Testnet', 'broker try --account Futures --symbol XRPUSDT.P --at-most 20')}`,
    )
    .action(
      does((options: TryOptions) =>
        asOperator<ExitCode>(desk.config(), 'broker try', (operator) => trying(desk, operator, options)),
      ),
    );
  noun
    .command('compare')
    .description('read a transcript of `broker try` through the connector again, and name what is otherwise')
    .argument('<file>', 'the transcript')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('broker compare 2026-11-17T10-00-00-000Z.jsonl'))
    .action(
      does(async (file: string, { json }: WithJson) => {
        const compared = await compareFile(readFileSync(file, 'utf8'));
        if (json) output.json(compared);
        else tellComparison(output, compared);
        const isSame = compared.otherwise.length === 0 && compared.fields.length === 0;
        return isSame && compared.cutAfter === null ? 0 : 1;
      }),
    );
};

async function trying(desk: Desk, operator: Operator, options: TryOptions): Promise<ExitCode> {
  const { output } = desk;
  const account = await accountOf(operator, options.account, output);
  if (!account) return 1;
  const isLive = isRealMoney(account.brokerName, account.environment);
  if (isLive && options.yes) {
    output.complain(
      'This is a live account: --yes is not taken. Run it at a terminal, and type the account’s name when you are asked.',
    );
    return 2;
  }
  const numbers = [options.atMost, options.quantity].map((text) =>
    text === undefined ? null : parseDecimal(text),
  );
  if (
    [options.atMost, options.quantity].some((text, at) => text !== undefined && !isAbove(numbers[at] ?? null))
  ) {
    output.complain('--at-most and --quantity take a number above zero.');
    return 2;
  }
  const [atMost, quantity] = numbers;
  const symbol = options.symbol ?? account.allowedSymbols[0] ?? SYMBOLS[account.brokerName];
  const room = await openTrialRoom(operator, account, { symbol, file: options.file });
  try {
    const currency = BROKERS[account.brokerName].currency;
    return await inRoom(desk, {
      ...{ operator, account, options, room, symbol, isLive, quantity: quantity ?? null },
      atMost: atMost ?? decimal(AT_MOST[currency] ?? USUALLY_AT_MOST),
    });
  } finally {
    room.close();
  }
}

const isAbove = (value: Decimal | null): boolean => value !== null && sign(value) > 0;

async function accountOf({ db }: Operator, name: string, output: Output): Promise<Account | null> {
  const [account, ...more] = await accountsNamed(db, name, { limit: MOST_NAMED });
  if (account && more.length === 0) return account;
  const lines = [account, ...more].map((each) => `  ${each?.id} ${each?.brokerName} of user ${each?.userId}`);
  output.complain(
    account
      ? `Several accounts have this name. Name one by its id:\n${lines.join('\n')}`
      : 'There is no such trading account.',
  );
  return null;
}

interface InRoom {
  readonly operator: Operator;
  readonly account: Account;
  readonly options: TryOptions;
  readonly room: TrialRoom;
  readonly symbol: string;
  readonly isLive: boolean;
  readonly atMost: Decimal;
  readonly quantity: Decimal | null;
}

async function inRoom(desk: Desk, given: InRoom): Promise<ExitCode> {
  const { output } = desk;
  const { operator, account, options, room, symbol, isLive, atMost, quantity } = given;
  const stopping = new AbortController();
  const leave = listenForInterrupt(stopping, output);
  const progress = output.progress();
  const trial = randomUUID();
  let held: Held | null = null;
  let journal = room.begin({ trial, symbol, isHeld: false });
  let broker: Awaited<ReturnType<TrialRoom['open']>> | null = null;
  try {
    broker = await room.open();
    const deps = {
      ...{
        broker,
        clock: operator.clock,
        wait: room.wait,
        interrupted: stopping.signal,
        patience: room.patience,
      },
      // Of the journal of now: it begins with what was agreed to.
      journal: { keep: (sent: Parameters<typeof journal.keep>[0]) => journal.keep(sent) },
      tell(row: Outcome['rows'][number]) {
        room.recorder.write({ row });
        progress.tell(`${row.step}: ${row.seen}`);
      },
    };
    if (room.unfinished) return await finish(output, given, deps);
    const outcome = await runTrial(deps, {
      ...{ symbol, currency: BROKERS[account.brokerName].currency, atMost, quantity },
      ...{
        wireAheadMs: room.recorder.aheadMs,
        feesIn: room.recorder.feesIn,
        news: room.news,
        idOf: room.idOf(trial),
      },
      async agree(proposal) {
        progress.end();
        if (!(await isMeant(desk, given, proposal))) return false;
        held = await holdAccount(operator, account, proposal.instrument.symbol);
        journal = room.begin({ trial, symbol, isHeld: held !== null, ...held });
        // Before anything is sent: the next one resumes it, should this one be killed.
        if (held !== null) journal.keep([]);
        return true;
      },
    });
    progress.end();
    room.recorder.write({ end: { ended: outcome.ended } });
    const isFlat = outcome.home?.isFlat ?? true;
    const isOver = isFlat && outcome.ended !== 'surprised';
    const isResumed = held !== null && isOver && (await releaseAccount(operator, account, held));
    if (isFlat) room.end();
    const staysHalted = held === null || isResumed ? null : isOver ? 'changed' : 'not over';
    const standing = { staysHalted, file: room.file, isLive } as const;
    if (options.json) output.json({ ...outcome, file: room.file, halted: staysHalted !== null });
    else tellOutcome(output, outcome, standing);
    return outcome.ended === 'well' && isFlat ? 0 : 1;
  } catch (fault) {
    progress.end();
    // Of the broker, before anything could be asked.
    room.recorder.write({ end: { ended: 'unopened' } });
    output.complain(`${(fault as Error).message}`);
    if (held !== null)
      output.complain(
        'The account was halted for it, and stays so. Run the same command again, which resumes it.',
      );
    return 1;
  } finally {
    leave();
    await broker?.close().catch(() => {});
  }
}

/** What a trial before has left open is closed, and no other is begun. */
async function finish(
  output: Output,
  { operator, account, room }: InRoom,
  deps: Parameters<typeof finishTrial>[0],
): Promise<ExitCode> {
  const { unfinished } = room;
  if (!unfinished) return 1;
  output.print(`A trial of ${unfinished.symbol} was interrupted. What it opened is closed first.`);
  const { trial, symbol, sent } = unfinished;
  const journal = room.begin(unfinished);
  const home = await finishTrial({ ...deps, journal }, { symbol, sent, idOf: room.idOf(`${trial} again`) });
  room.recorder.write({ end: { ended: 'finished' } });
  if (home.isFlat) {
    const isResumed = unfinished.isHeld && (await releaseAccount(operator, account, unfinished));
    room.end();
    const standing = !unfinished.isHeld
      ? ''
      : isResumed
        ? 'The account is resumed. '
        : `${CHANGED_MEANWHILE} `;
    output.print(`${capital(home.words)} ${standing}Run the command again for another trial.`);
    return 0;
  }
  output.complain(home.words);
  return 1;
}

const capital = (text: string): string => text.replace(/^./, (first) => first.toUpperCase());

/** The first time it ends in order; the second time at once. */
function listenForInterrupt(stopping: AbortController, output: Output): () => void {
  const stop = () => {
    if (stopping.signal.aborted) {
      output.complain(
        'Left at once: something may be open. Run the same command again, which closes it, or look at your broker.',
      );
      process.exit(1);
    }
    output.complain('Interrupted: what is open is closed first. Once more ends it at once.');
    stopping.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return () => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
}

async function isMeant(
  { output, input }: Desk,
  { account, options, isLive }: InRoom,
  { instrument, plan }: Proposal,
): Promise<boolean> {
  const { title, currency } = BROKERS[account.brokerName];
  const name = visible(account.name);
  const lines = [
    `${title}, ${account.environment}, account ${name}:`,
    `  ${plan.quantity} ${instrument.symbol} is bought and sold again, worth ${plan.value} ${currency}; that costs about ${rounded(plan.cost)} ${currency} in fees and spread.`,
    `  An order to buy it at ${plan.farLimit}, far below the market, is placed and cancelled before.`,
    ...(account.halted
      ? []
      : ['  The account is halted meanwhile: its strategies open nothing. Exits are executed as always.']),
  ];
  if (!options.json) output.print(lines.join('\n'));
  if (options.yes) return true;
  if (!input.isTerminal) {
    output.complain(
      isLive
        ? 'This is a live account: run it at a terminal, and type the account’s name when you are asked. Nothing was sent.'
        : 'Give --yes where nobody can be asked. Nothing was sent.',
    );
    return false;
  }
  const wanted = isLive ? account.name : 'yes';
  const answer = await input.ask(
    isLive ? `This is REAL MONEY. Type the account’s name (${name}) to go on: ` : 'Type yes to go on: ',
  );
  if (answer.trim() === wanted) return true;
  output.complain('Nothing was sent.');
  return false;
}

/** To a few digits: it is an estimate. */
const rounded = (cost: Decimal): string => Number(Number(cost).toPrecision(2)).toString();

// The command line: which nouns there are, and what becomes of an answer. A noun's module, and all that it needs, is
// loaded when it is named: help is there at once, and a start of the service loads nothing of this.

import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { AddCommands, Desk } from './desk.ts';
import type { ExitCode, Output } from './output.ts';

interface Noun {
  readonly about: string;
  load(): Promise<AddCommands>;
}

/** In the order of the help. */
const NOUNS: Readonly<Record<string, Noun>> = {
  start: {
    about: 'run the service, as `npm start` does',
    load: async () => (await import('./start.ts')).start,
  },
  doctor: {
    about: 'look for what is wrong with settings, data and network, and say what to do',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  user: {
    about: 'list, add and change users',
    load: async () => (await import('./user.ts')).user,
  },
  key: {
    about: "list, make and revoke users' API keys",
    load: async () => (await import('./key.ts')).key,
  },
  signal: {
    about: 'send a test signal of a strategy',
    load: async () => (await import('./signal.ts')).signal,
  },
  orders: {
    about: 'list orders, and follow them live',
    load: async () => (await import('./orders.ts')).orders,
  },
  groups: {
    about: "a user's groups: one signal for several accounts",
    load: async () => (await import('./groups.ts')).groups,
  },
  broker: {
    about: 'try a broker with the smallest order, and compare what it said',
    load: async () => (await import('./broker.ts')).broker,
  },
  'dead-letters': {
    about: 'orders that fill verification gave up on',
    load: async () => (await import('./dead-letters.ts')).deadLetters,
  },
  protections: {
    about: "what protects everybody's positions, and which stops are missing",
    load: async () => (await import('./protections.ts')).protections,
  },
  export: {
    about: 'write orders to a file, as CSV or JSON Lines',
    load: async () => (await import('./export.ts')).exporting,
  },
  backup: {
    about: 'copy the embedded data into one file, while the service runs',
    load: async () => (await import('./backup.ts')).backup,
  },
  restore: {
    about: 'restore a backup into an empty folder, so that no order is sent again',
    load: async () => (await import('./backup.ts')).restore,
  },
  audit: {
    about: 'prove that the audit log is whole',
    load: async () => (await import('./audit.ts')).audit,
  },
  migrate: {
    about: "bring the database to this version's schema",
    load: async () => (await import('./migrate.ts')).migrating,
  },
  keys: {
    about: 'replace APP_KEY, JWT_SECRET or WORKER_KEY',
    load: async () => (await import('./keys.ts')).keys,
  },
  config: {
    about: 'list the settings',
    load: async () => (await import('./settings.ts')).settings,
  },
  errors: {
    about: 'print every error, as ERRORS.md has them',
    load: async () => (await import('./errors.ts')).errors,
  },
};

export async function runCommand(
  around: Omit<Desk, 'does' | 'output'>,
  args: readonly string[],
  output: Output,
): Promise<ExitCode> {
  let code: ExitCode = 0;
  const desk: Desk = {
    ...around,
    output,
    does:
      (work) =>
      async (...given) => {
        code = await work(...given);
      },
  };
  try {
    const program = await build(args, desk);
    await program.parseAsync(asked(args), { from: 'user' });
    return code;
  } catch (fault) {
    // Commander has said what it has to say.
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : 2;
    output.complain((fault as Error).message);
    return 2;
  }
}

/** `help audit verify` asks what `audit verify --help` does; Commander's own looks one word far. */
function asked(args: readonly string[]): string[] {
  const [first, ...rest] = args;
  return first === undefined || first === 'help' ? [...rest, '--help'] : [...args];
}

async function build(args: readonly string[], desk: Desk): Promise<Command> {
  const { output } = desk;
  const program = new Command('fillpath')
    .description(packageJson.description)
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('Run it with --help to see how it is used.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.out.write(text),
      writeErr: (text) => output.err.write(text),
      getOutHasColors: () => output.out.hasColors?.() ?? false,
      getErrHasColors: () => output.err.hasColors?.() ?? false,
      outputError: (text, write) => write(asSentence(text)),
    })
    .configureHelp({
      styleTitle: (text) => output.paint('strong', text),
      subcommandTerm: (command) => command.name(),
    })
    .addHelpText('after', EXIT_CODES);
  const named = args.filter((arg) => !arg.startsWith('-') && arg !== 'help')[0];
  for (const [name, { about, load }] of Object.entries(NOUNS)) {
    const noun = program.command(name).description(about);
    if (name === named) (await load())(noun, desk);
  }
  return program;
}

/** Commander's complaints, as ours begin. */
const asSentence = (text: string): string =>
  text.replace(/^(?:error: )?(.)/, (_, first: string) => first.toUpperCase());

const EXIT_CODES = `
Exit codes: 0 good; 1 a finding, or a refusal; 2 no such command, or one that could not be carried out.
\`fillpath COMMAND --help\` tells more, with an example.`;

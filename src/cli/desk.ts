// What every command works with.

import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import type { ExitCode, Output } from './output.ts';

export interface Desk {
  readonly output: Output;
  /** The service's own, of .env and the environment. Read only by commands that need it: throws a ConfigError. */
  config(): Config;
  /** Makes an action of a command of what returns its exit code. */
  does<Args extends unknown[]>(work: (...args: Args) => Promise<ExitCode>): (...args: Args) => Promise<void>;
}

/** Adds a noun's commands to the program: `fillpath NOUN VERB`. */
export type AddCommands = (noun: Command, desk: Desk) => void;

/** What a command declares that can print what it found as JSON. */
export const JSON_OPTION = ['--json', 'print one JSON document'] as const;

/** Shown at the end of a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ fillpath ${line}`).join('\n')}`;

// What every command works with.

import type { Command } from 'commander';
import type { ClientSettings } from '../config/client.ts';
import type { Config } from '../config/config.ts';
import { type Denial, detailOf, ruleOf } from '../domain/denial.ts';
import { type Timestamp, timestamp } from '../domain/ids.ts';
import type { ExitCode, Output } from './output.ts';

export interface Desk {
  readonly output: Output;
  /** The service's own, of .env and the environment. Read only by commands that need it: throws a ConfigError. */
  config(): Config;
  /** Where commands that use the API find it. */
  client(): ClientSettings;
  /** What stands on stdin, or what a person types at a terminal. */
  readonly input: Input;
  /** Of a command that reads for long, beside a service: whoever trades there comes first. */
  giveWay?(): void;
  /** Makes an action of a command of what returns its exit code. */
  does<Args extends unknown[]>(work: (...args: Args) => Promise<ExitCode>): (...args: Args) => Promise<void>;
}

export interface Input {
  readonly isTerminal: boolean;
  /** All of it, without the line break at its end. */
  read(): Promise<string>;
  /** At a terminal. */
  ask(question: string): Promise<string>;
}

/** An option's day, which begins in UTC, or point in time. null: not given; undefined: it is neither. */
export function timeOf(text: string | undefined): Timestamp | null | undefined {
  if (text === undefined) return null;
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : timestamp(ms);
}

export function notATime({ complain }: Output, ...options: readonly string[]): ExitCode {
  complain(`${options.join(' and ')} take a date or a time, such as 2027-01-31 or 2027-01-31T12:00:00Z.`);
  return 2;
}

/** Tells a refusal of the service's own. Where it says nothing particular, its detail is meant for callers of the API. */
export function refused({ complain }: Output, { code, detail }: Denial): ExitCode {
  const rule = ruleOf(code);
  complain(detail === detailOf(rule) ? `${rule.title}.` : detail);
  return 1;
}

/** Adds a noun's commands to the program: `fillpath NOUN VERB`. */
export type AddCommands = (noun: Command, desk: Desk) => void;

/** What a command declares that can print what it found as JSON. */
export const JSON_OPTION = ['--json', 'print one JSON document'] as const;

export interface WithJson {
  readonly json?: true;
}

/** Shown at the end of a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ fillpath ${line}`).join('\n')}`;

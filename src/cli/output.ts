// What a command says: results on stdout, complaints and progress on stderr, colours only where a person looks.

import { styleText } from 'node:util';

/** 0: good. 1: a finding, or a refusal. 2: no command of ours, or one that could not be carried out. */
export type ExitCode = 0 | 1 | 2;

/** As much of a stream as is used: `process.stdout`, or a test's. */
export interface Writable {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  /** Knows of NO_COLOR and of terminals that have none. */
  hasColors?(): boolean;
  once?(event: 'drain', listener: () => void): unknown;
}

export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'strong';

const FORMATS = { good: 'green', bad: 'red', warn: 'yellow', quiet: 'dim', strong: 'bold' } as const;

export interface Column<Row> {
  readonly title: string;
  value(row: Row): string | number | boolean | null | undefined;
  readonly align?: 'right';
  tone?(row: Row): Tone | undefined;
}

interface Progress {
  /** In place of what it told last. */
  tell(text: string): void;
  /** Takes its line away. */
  end(): void;
}

export interface Output {
  /** A line, or several, on stdout. */
  print(text: string): void;
  /** The same on stderr. */
  complain(text: string): void;
  /** One JSON document on stdout. */
  json(value: unknown): void;
  /** `none`: said where there is no row, on stderr, so that a pipe gets nothing; null: it was said already. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string | null): void;
  /** As it is, on stdout; waits while nobody takes it. */
  write(text: string): Promise<void>;
  /** In colour, where stdout has them. */
  paint(tone: Tone, text: string): string;
  /** On stderr, and only on a terminal. */
  progress(): Progress;
  readonly out: Writable;
  readonly err: Writable;
}

export function openOutput({ out, err }: { out: Writable; err: Writable }): Output {
  const inColour = out.hasColors?.() ?? false;
  const paint = (tone: Tone, text: string) =>
    inColour ? styleText(FORMATS[tone], text, { validateStream: false }) : text;
  const print = (text: string) => void out.write(`${text}\n`);
  return {
    out,
    err,
    paint,
    print,
    complain: (text) => void err.write(`${text}\n`),
    async write(text) {
      if (out.write(text) === false) await new Promise<void>((resolve) => void out.once?.('drain', resolve));
    },
    json: (value) => print(JSON.stringify(value, null, 2)),
    table(rows, columns, none) {
      if (rows.length > 0) print(tableLines(rows, columns, paint).join('\n'));
      else if (none !== null) err.write(`${none}\n`);
    },
    progress() {
      if (!err.isTTY) return { tell() {}, end() {} };
      return {
        tell: (text) => void err.write(`\r\u001b[2K${text.slice(0, (err.columns ?? 80) - 1)}`),
        end: () => void err.write('\r\u001b[2K'),
      };
    },
  };
}

/** What others wrote, made harmless: a terminal obeys control characters. */
export const visible = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (char) => {
    const code = char.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });

function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  paint: Output['paint'],
): string[] {
  const texts = rows.map((row) => columns.map(({ value }) => visible(String(value(row) ?? '–'))));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...texts.map((cells) => cells[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[], toneOf: (at: number) => Tone | undefined) =>
    cells
      .map((cell, at) => {
        const pad = ' '.repeat((widths[at] ?? 0) - cell.length);
        const tone = toneOf(at);
        const shown = tone ? paint(tone, cell) : cell;
        if (columns[at]?.align === 'right') return pad + shown;
        return at === columns.length - 1 ? shown : shown + pad;
      })
      .join('  ');
  return [
    line(
      columns.map(({ title }) => title),
      () => 'strong',
    ),
    ...rows.map((row, index) => line(texts[index] ?? [], (at) => columns[at]?.tone?.(row))),
  ];
}

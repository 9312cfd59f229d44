// A transcript: what was asked of a broker and what it said, one line of JSON each, in the order of time. The first line says whose it is
// and how the others are to be read, the last that it is whole. Nothing in it is a secret (mask.ts).

/** Another one where a line is not read as before. */
export const TRANSCRIPT_VERSION = 1;

export interface Head {
  readonly fillpath_transcript: number;
  readonly fillpath: string;
  readonly broker: string;
  readonly environment: string;
  /** As it was asked for. */
  readonly symbol: string;
  readonly began: string;
}

/** A request and its answer, or why there was none. */
export interface Exchanged {
  /** During which call of ours. */
  readonly call: number;
  readonly method: string;
  /** From the path on. */
  readonly path: string;
  /** Those that tell nothing of anybody. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status?: number;
  readonly answer_headers?: Readonly<Record<string, string>>;
  readonly answer?: string;
  readonly silence?: string;
  readonly ms: number;
}

export type Line =
  | Head
  /** What was asked of the port, with what. */
  | { readonly asks: string; readonly call: number; readonly with: readonly unknown[] }
  | { readonly exchanged: Exchanged }
  /** What the stream said, and what was said to it. */
  | { readonly stream: 'heard' | 'said'; readonly text: string }
  /** What the connector made of it. */
  | { readonly told: number; readonly answer?: unknown; readonly fault?: Fault; readonly ms: number }
  | { readonly hint: unknown }
  | { readonly row: unknown }
  | { readonly end: { readonly ended: string } };

interface Fault {
  readonly name: string;
  readonly message: string;
}

export interface PortCall {
  readonly call: number;
  readonly asks: string;
  readonly with: readonly unknown[];
  readonly told: { readonly answer?: unknown; readonly fault?: Fault } | null;
}

export interface Transcript {
  readonly head: Head;
  readonly calls: readonly PortCall[];
  readonly exchanged: readonly Exchanged[];
  /** What the stream said. */
  readonly heard: readonly string[];
  readonly hints: readonly unknown[];
  /** null: it is whole; else after which line it was cut. */
  readonly cutAfter: number | null;
}

/** It is none of ours, or none that can be read: in words. */
export class NoTranscript extends Error {
  override readonly name = 'NoTranscript';
}

export function readTranscript(text: string): Transcript {
  const lines = text.split('\n');
  const isEnded = lines.at(-1) === '';
  const written = isEnded ? lines.slice(0, -1) : lines;
  const head = headOf(written[0] ?? '');
  const read: Line[] = [];
  let cutAfter: number | null = null;
  for (const [index, line] of written.entries()) {
    const parsed = parse(line);
    if (parsed !== undefined) read.push(parsed);
    else if (index === written.length - 1) cutAfter = index;
    else throw new NoTranscript(`Line ${index + 1} cannot be read: the file was changed, or damaged.`);
  }
  const told = new Map(read.flatMap((line) => ('told' in line ? [[line.told, line] as const] : [])));
  const hasEnd = read.some((line) => 'end' in line);
  return {
    head,
    calls: read.flatMap((line) =>
      'asks' in line
        ? [{ call: line.call, asks: line.asks, with: line.with, told: told.get(line.call) ?? null }]
        : [],
    ),
    exchanged: read.flatMap((line) => ('exchanged' in line ? [line.exchanged] : [])),
    heard: read.flatMap((line) => ('stream' in line && line.stream === 'heard' ? [line.text] : [])),
    hints: read.flatMap((line) => ('hint' in line ? [line.hint] : [])),
    cutAfter: hasEnd ? null : (cutAfter ?? written.length),
  };
}

function parse(line: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

function headOf(line: string): Head {
  const head = parse(line) as Partial<Head> | undefined;
  const version = head?.fillpath_transcript;
  if (typeof version !== 'number')
    throw new NoTranscript('This is no transcript of `fillpath broker try`: its first line does not say so.');
  if (version !== TRANSCRIPT_VERSION)
    throw new NoTranscript(
      `This transcript is of version ${version}, and this Fillpath (which reads version ${TRANSCRIPT_VERSION}) cannot read it. Use the one that wrote it: ${head?.fillpath ?? 'unknown'}.`,
    );
  const { broker, environment, symbol, began, fillpath = '' } = head as Head;
  if ([broker, environment, symbol, began].some((part) => typeof part !== 'string'))
    throw new NoTranscript(
      'The first line of this transcript is not whole: the file was changed, or damaged.',
    );
  return { fillpath_transcript: version, fillpath, broker, environment, symbol, began };
}

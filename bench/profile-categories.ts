// What a sampled function belongs to. A function of the platform that has no category counts for whoever called it.

export interface Frame {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** As V8 writes it; times in microseconds of the machine's own clock. */
export interface Profile {
  readonly nodes: readonly Frame[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const RUNTIME = 'runtime';

/** The first that fits. */
const CATEGORIES: readonly (readonly [category: string, files: RegExp])[] = [
  ['decimals', /\/src\/domain\/decimal|node_modules\/big\.js\//],
  [
    'metrics, log, audit, traces',
    /\/src\/(telemetry\/|log\.ts|app\/audit\/|domain\/(counters|tracing|call-log|audit-chain)|http\/(request-log|answer-count))|node_modules\/(pino|sonic-boom|thread-stream|prom-client|@opentelemetry|quick-format-unescaped|safe-stable-stringify)/,
  ],
  [
    'crypto',
    /\/src\/app\/secret-box|node_modules\/(fast-jwt|jose|asn1\.js|@node-rs\/argon2)\/|^node:(internal\/)?crypto/,
  ],
  [
    'database and its adapter',
    /\/src\/data\/engine\/|node_modules\/(pg|pg-[\w-]+|postgres-[\w-]+)\/|^node:sqlite/,
  ],
  ['statements and rows', /\/src\/data\//],
  [
    'store',
    /\/src\/store\/|node_modules\/(@?ioredis|redis-[\w-]+|cluster-key-slot|denque|standard-as-callback)\//,
  ],
  ['paper', /\/src\/broker\//],
  ['domain', /\/src\/domain\//],
  ['worker', /\/src\/worker\//],
  ['app', /\/src\/app\//],
  [
    'HTTP',
    /\/src\/http\/|node_modules\/(@?fastify|find-my-way|avvio|light-my-request|secure-json-parse|fast-[\w-]+|ajv|typebox|reusify|fastq|process-warning|ret|rfdc|toad-cache|proxy-addr|cookie|mnemonist|obliterator)\/|^node:(_http|http|internal\/http)/,
  ],
  ['sockets', /^node:(net|internal\/(net|stream_base_commons|streams)|stream)/],
  ['timers', /^node:(timers|internal\/(timers|abort_controller|event_target|priority_queue|linkedlist))/],
  [RUNTIME, /\/src\/|node_modules\//],
];

function categoryOf({ functionName, url }: Frame['callFrame']): string | null {
  if (functionName === '(garbage collector)') return 'GC';
  if (functionName.startsWith('(') && functionName !== '(anonymous)') return RUNTIME;
  return CATEGORIES.find(([, files]) => files.test(url))?.[0] ?? null;
}

export interface Costs {
  readonly categories: ReadonlyMap<string, number>;
  readonly functions: ReadonlyMap<string, number>;
}

/** In microseconds, of what was sampled from one moment to another; without what was idle. */
export function costsOf(profile: Profile, from = 0, until = Number.POSITIVE_INFINITY): Costs {
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const parents = new Map(
    profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])),
  );
  const known = new Map<number, string>();
  const categoryOfNode = (id: number): string => {
    const frame = frames.get(id);
    const parent = parents.get(id);
    const category =
      known.get(id) ??
      (frame && categoryOf(frame)) ??
      (parent === undefined ? RUNTIME : categoryOfNode(parent));
    known.set(id, category);
    return category;
  };
  const categories = new Map<string, number>();
  const functions = new Map<string, number>();
  const add = (to: Map<string, number>, name: string, us: number) => to.set(name, (to.get(name) ?? 0) + us);
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] ?? 0;
    // A sample lasts until the next one.
    const us = profile.timeDeltas[index + 1] ?? 0;
    const frame = frames.get(id);
    if (!frame || frame.functionName === '(idle)' || at < from || at > until) return;
    add(categories, categoryOfNode(id), us);
    const file = frame.url.replace(/^.*\/(?=src\/|node_modules\/)/, '');
    add(functions, `${frame.functionName || '(anonymous)'} ${file}`.trim(), us);
  });
  return { categories, functions };
}

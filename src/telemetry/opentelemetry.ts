// Traces by OpenTelemetry, to a collector that speaks OTLP over HTTP. Loaded only where one is configured. Spans are sent in the
// background, a batch at a time: a collector that hangs or is away costs spans, which are dropped, and never an order's time.

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Span, Tracing } from '../domain/tracing.ts';

export interface TracingSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Of all traces, from 0 to 1. */
  readonly ratio: number;
}

interface TracingDeps {
  readonly version: string;
  readonly role: string;
  readonly log: { warn(context: object, text: string): void };
}

const SEND_EVERY_MS = 1_000;
const EXPORT_MS = 5_000;
/** At a stop, for the spans that are left. */
const CLOSE_MS = 2_000;
const WARN_EVERY_MS = 60_000;

export function openTracing(
  { url, headers, serviceName, ratio }: TracingSettings,
  { version, role, log }: TracingDeps,
): Tracing & { close(): Promise<void> } {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: EXPORT_MS });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': version,
      'service.instance.id': `${role}:${process.pid}`,
      'fillpath.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: complaining(exporter, log),
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('fillpath', version);
  const underWay = new AsyncLocalStorage<Context>();

  async function run<T>(
    span: ReturnType<typeof tracer.startSpan>,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const within = trace.setSpan(ROOT_CONTEXT, span);
    try {
      return await underWay.run(within, work, shown(span));
    } catch (fault) {
      // Its kind alone: a fault's text may say more than a trace is to hold.
      span.setStatus({ code: SpanStatusCode.ERROR, message: fault instanceof Error ? fault.name : 'fault' });
      throw fault;
    } finally {
      span.end();
    }
  }

  return {
    request(name, cause, work) {
      const links: Link[] = [];
      const context = readParent(cause);
      if (context) links.push({ context });
      return run(tracer.startSpan(name, { kind: SpanKind.SERVER, links }, ROOT_CONTEXT), work);
    },
    during(name, attributes, work) {
      const parent = underWay.getStore();
      if (!parent) return work(NO_SPAN);
      return run(tracer.startSpan(name, { attributes }, parent), work);
    },
    begin(name) {
      const parent = underWay.getStore();
      return parent ? shown(tracer.startSpan(name, {}, parent)) : NO_SPAN;
    },
    carried() {
      const span = trace.getSpan(underWay.getStore() ?? ROOT_CONTEXT);
      return span ? { parent: writeParent(span.spanContext()), at: Date.now() } : null;
    },
    continued(carried, work) {
      const parent = readParent(carried?.parent ?? null);
      if (!carried || !parent) return underWay.exit(work);
      const within = trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
      const now = Date.now();
      // Of another machine's clock: what would begin after its end did not wait.
      const startTime = Number.isFinite(carried.at) ? Math.min(carried.at, now) : now;
      tracer.startSpan('queue', { kind: SpanKind.CONSUMER, startTime }, within).end(now);
      return underWay.run(within, work);
    },
    apart: (work) => underWay.exit(work),
    async close() {
      // A collector that is away keeps nobody from stopping.
      await Promise.race([provider.shutdown().catch(() => {}), sleep(CLOSE_MS)]);
    },
  };
}

const NO_SPAN: Span = { set() {}, end() {} };

function shown(span: ReturnType<ReturnType<TracerProvider['getTracer']>['startSpan']>): Span {
  return {
    set: (attributes) => void span.setAttributes(attributes),
    end() {
      if (span.isRecording()) span.end();
    },
  };
}

const PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function readParent(text: string | null): SpanContext | null {
  const [, traceId, spanId, flags] = PARENT.exec(text ?? '') ?? [];
  if (!traceId || !spanId || !flags) return null;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
  return isSpanContextValid(context) ? context : null;
}

const writeParent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;

/** A collector that takes nothing is told of once a minute, and not with every batch. */
function complaining(exporter: SpanExporter, log: TracingDeps['log']): SpanExporter {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error && performance.now() > quietUntil) {
          quietUntil = performance.now() + WARN_EVERY_MS;
          log.warn({ fault: result.error, spans: spans.length }, 'traces could not be delivered');
        }
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

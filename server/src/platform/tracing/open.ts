import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Link, Span, SpanOptions } from '@opentelemetry/api';
import type { ActiveSpan, Attributes } from './active-span.ts';
import type { TracingSettings } from './settings.ts';

/** Starts spans and sends them to a collector (RUN-24). */
export interface Tracing {
  /** Starts the span of a request; `traceparent` is that of a trusted proxy, in whose trace the request is. */
  startRequest(traceparent: string | undefined): ActiveSpan;
  /** Starts the span of a job, in a trace of its own that links to what enqueued it. */
  startJob(kind: string, traceparent: string | undefined): ActiveSpan;
  /** Sends the ended spans, within at most two seconds. */
  close(): Promise<void>;
}

/** Interval between exports. */
const SEND_EVERY_MS = 1000;
const SEND_WITHIN_MS = 5000;
const CLOSE_WITHIN_MS = 2000;

/**
 * Opens the export of traces over OTLP; null, with nothing loaded, when no collector is configured. While the collector
 * is unreachable, spans are lost but requests succeed.
 */
export async function openTracing(settings: TracingSettings | null): Promise<Tracing | null> {
  if (settings === null) return null;
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }, { parseTraceParent }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/core'),
    ]);
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const { url, headers, serviceName, share } = settings;
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: SEND_WITHIN_MS });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'process.pid': process.pid }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_EVERY_MS })],
  });
  const tracer = provider.getTracer('vitrine');

  const wrap = (span: Span): ActiveSpan => {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceId,
      spanId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      startCall: (name, attributes) =>
        start(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, span)),
      rename: (name) => span.updateName(name),
      set: (attributes: Attributes) => span.setAttributes(attributes),
      end(failure) {
        if (failure !== undefined) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('error.type', failure);
        }
        span.end();
      },
    };
  };
  const start = (name: string, options: SpanOptions, context: Context): ActiveSpan =>
    wrap(tracer.startSpan(name, options, context));
  const parse = (traceparent: string | undefined) =>
    traceparent === undefined ? null : parseTraceParent(traceparent);

  return {
    startRequest(traceparent) {
      const parent = parse(traceparent);
      const context =
        parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
      return start('request', { kind: SpanKind.SERVER }, context);
    },
    startJob(kind, traceparent) {
      const cause = parse(traceparent);
      const links: Link[] = cause === null ? [] : [{ context: cause }];
      return start(
        `job ${kind}`,
        { kind: SpanKind.CONSUMER, attributes: { 'vitrine.job': kind }, links },
        ROOT_CONTEXT,
      );
    },
    async close() {
      // The collector may be unreachable.
      await Promise.race([
        provider.shutdown().catch(() => {}),
        sleep(CLOSE_WITHIN_MS, undefined, { ref: false }),
      ]);
    },
  };
}

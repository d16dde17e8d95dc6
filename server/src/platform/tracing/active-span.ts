import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace: a request, a job or a statement. */
export interface ActiveSpan {
  /** In hex, as log lines have them. */
  readonly traceId: string;
  readonly spanId: string;
  /** Identifies this span to other services, in the format of W3C Trace Context. */
  readonly traceparent: string;
  /** Starts a child span for the part of this work that another service performs. */
  startCall(name: string, attributes: Attributes): ActiveSpan;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Ends the work. `failure` names an error, without values that it may contain. */
  end(failure?: string): void;
}

/** The span of the work in progress. Empty while tracing is off, so that reading it is cheap. */
export const activeSpan = new AsyncLocalStorage<ActiveSpan>();

/** Returns the name of an error for a span: its code or its class. Messages may contain values of callers. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

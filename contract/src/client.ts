import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from './operation.ts';

/** Where an operation is found: method and path below the base path. */
export type Route = readonly [method: string, path: string];

/** The routes a client needs, without the schemas, so that a web page stays small. */
export function routesOf<T extends Record<string, Operation>>(operations: T): Record<keyof T, Route> {
  const entries = Object.entries(operations).map(([id, o]) => [id, [o.method, o.path] as const]);
  return Object.fromEntries(entries);
}

/** What a call is given: only the parts its operation has. */
export type CallInput<O extends Operation> = (ParamsOf<O> extends undefined
  ? unknown
  : { params: ParamsOf<O> }) &
  (QueryOf<O> extends undefined ? unknown : { query?: QueryOf<O> }) &
  (BodyOf<O> extends undefined ? unknown : { body: BodyOf<O> | FormData }) &
  (O['raw'] extends object ? { body: Blob } : unknown) & { signal?: AbortSignal };

/** An answer that was an error: its status, the text of `{error}`, and when to try again if it says so. */
export class CallError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  constructor(status: number, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The seconds that `Retry-After` names; null without one. We send no dates. */
export function retryAfterOf(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

export interface Client<T extends Record<string, Operation>> {
  /** Resolves to the operation's JSON, undefined where it answers nothing; rejects with CallError. */
  call<K extends keyof T & string>(id: K, input?: CallInput<T[K]>): Promise<AnswerOf<T[K]>>;
}

export interface ClientOptions {
  /** Service address including the base path. */
  baseUrl: string;
  fetch?: typeof fetch;
  headers?: Record<string, string>;
}

interface AnyInput {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal;
}

function addressOf(baseUrl: string, path: string, input: AnyInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(input.params?.[name] ?? '')),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, String(one));
    }
  }
  const text = search.toString();
  return `${baseUrl}${filled}${text === '' ? '' : `?${text}`}`;
}

/** A client for the operations behind these routes. Cookies go along as the browser sends them. */
export function createClient<T extends Record<string, Operation>>(
  routes: Record<keyof T, Route>,
  options: ClientOptions,
): Client<T> {
  const send = options.fetch ?? fetch;
  return {
    async call(id, input) {
      const [method, path] = routes[id];
      const given: AnyInput = input ?? {};
      const { body } = given;
      const asIs = body instanceof FormData || body instanceof Blob ? body : null;
      const headers: Record<string, string> = { ...options.headers };
      if (body !== undefined && asIs === null) headers['content-type'] = 'application/json';
      if (body instanceof Blob && body.type === '') headers['content-type'] = 'application/octet-stream';
      const init: RequestInit = { method, headers, credentials: 'same-origin' };
      if (body !== undefined) init.body = asIs ?? JSON.stringify(body);
      if (given.signal !== undefined) init.signal = given.signal;
      const response = await send(addressOf(options.baseUrl, path, given), init);
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      const answer = isJson && text !== '' ? JSON.parse(text) : undefined;
      if (!response.ok) {
        const message = answer?.error ?? response.statusText;
        throw new CallError(response.status, message, retryAfterOf(response.headers));
      }
      return answer;
    },
  };
}

import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from './operation.ts';

/** The address of an operation: method and path below the base path. */
export type Route = readonly [method: string, path: string];

/** The routes without their schemas, which keeps web pages small. */
export function routesOf<T extends Record<string, Operation>>(operations: T): Record<keyof T, Route> {
  const entries = Object.entries(operations).map(([id, o]) => [id, [o.method, o.path] as const]);
  return Object.fromEntries(entries);
}

/** The input of a call, with only the parts that its operation has. */
export type CallInput<O extends Operation> = (ParamsOf<O> extends undefined
  ? unknown
  : { params: ParamsOf<O> }) &
  (QueryOf<O> extends undefined ? unknown : { query?: QueryOf<O> }) &
  (BodyOf<O> extends undefined ? unknown : { body: BodyOf<O> | FormData }) &
  (O['raw'] extends object ? { body: Blob } : unknown) & { signal?: AbortSignal };

/** An error response: its status, the text of `{error}`, and the seconds of `Retry-After` if present. */
export class CallError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  constructor(status: number, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Returns the seconds of `Retry-After`, or null without one. The service never sends dates. */
export function retryAfterOf(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

export interface Client<T extends Record<string, Operation>> {
  /** Resolves to the operation's JSON, or to undefined for an empty response. Rejects with CallError. */
  call<K extends keyof T & string>(id: K, input?: CallInput<T[K]>): Promise<AnswerOf<T[K]>>;
}

export interface ClientOptions {
  /** Address of the service, including the base path. */
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

/** Returns a client for the operations of these routes. Cookies are sent as the browser does. */
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

import type { ErrorCode } from './errors/codes.ts';
import { errorHeader, parseErrorHeader, type ReadErrorHeader } from './errors/header.ts';
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
  (BodyOf<O> extends undefined
    ? unknown
    : O['bodyOptional'] extends true
      ? { body?: BodyOf<O> }
      : { body: BodyOf<O> | FormData }) &
  (O['raw'] extends object ? { body: Blob } : unknown) & { signal?: AbortSignal };

/** An error response, or a failure to get one, which has status 0. */
export class CallError extends Error {
  readonly status: number;
  /** The code of the error (HTTP-43); null if the response has none. A newer service may have codes of its own. */
  readonly code: ErrorCode | null;
  /** The parameters of the code, such as `property`; null without a code. */
  readonly params: ReadErrorHeader['params'] | null;
  /** The seconds of `Retry-After` if present. */
  readonly retryAfterSeconds: number | null;
  /** `message` is the text of `{error}`; `headers` are those of the response. */
  constructor(status: number, message: string, headers: Headers = new Headers()) {
    super(message);
    const read = parseErrorHeader(headers.get(errorHeader));
    this.status = status;
    // A code of the closed list, unless the service is newer.
    this.code = (read?.code ?? null) as ErrorCode | null;
    this.params = read?.params ?? null;
    this.retryAfterSeconds = retryAfterOf(headers);
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
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) search.append(name, String(item));
    }
  }
  const text = search.toString();
  return `${baseUrl}${filled}${text === '' ? '' : `?${text}`}`;
}

/**
 * Returns a client for the operations of these routes, which may load on demand. Cookies are sent as the browser does.
 */
export function createClient<T extends Record<string, Operation>>(
  routes: Record<keyof T, Route> | ((id: keyof T & string) => Promise<Route>),
  options: ClientOptions,
): Client<T> {
  const send = options.fetch ?? fetch;
  const routeOf = typeof routes === 'function' ? routes : (id: keyof T) => routes[id];
  return {
    async call(id, input) {
      const [method, path] = await routeOf(id);
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
        throw new CallError(response.status, message, response.headers);
      }
      return answer;
    },
  };
}

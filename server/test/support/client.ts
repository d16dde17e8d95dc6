import { CallError, type CallInput, createClient, routesOf } from '@vitrine/contract/client';
import { ErrorBody } from '@vitrine/contract/errors';
import { definitionOf, isErrorCode } from '@vitrine/contract/errors/codes';
import { errorHeader, parseErrorHeader } from '@vitrine/contract/errors/header';
import { codesOf, errorStatuses } from '@vitrine/contract/errors/of-operation';
import type { AssetMedia } from '@vitrine/contract/media';
import { type AnswerOf, isPlain, type Operation } from '@vitrine/contract/operation';
import { basePath, type OperationId, type Operations, operations } from '@vitrine/contract/operations';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { expect } from 'vitest';
import { exchange, type Sent } from './exchange.ts';
import { undeclaredRenditions } from './renditions.ts';

interface Refused {
  status: number;
  error: string;
}

/** A response as received. */
export interface Answered {
  status: number;
  headers: Headers;
  text: string;
}

type Given = { method?: string; body?: unknown; headers?: Record<string, string> };

/** An HTTP client of a library with its own cookie, or none. */
export interface Visitor {
  /** The cookie `user` that the library set last. */
  cookie(): string | undefined;
  /** Calls an operation, expects success, and checks the response against the contract. */
  ok<K extends OperationId>(id: K, input?: CallInput<Operations[K]>): Promise<AnswerOf<Operations[K]>>;
  /** Calls an operation and expects a refusal that it declares. */
  refused<K extends OperationId>(id: K, input?: CallInput<Operations[K]>): Promise<Refused>;
  /** Sends any request to a path below the base path. */
  send(path: string, init?: Given): Promise<Answered>;
  /** The same, for the status alone. */
  status(method: string, path: string, body?: unknown): Promise<number>;
}

const errorShape = Compile(ErrorBody);

const checks = new WeakMap<TSchema, Validator>();

/** Returns the check of a schema, compiled once per test file. */
function checkOf(schema: TSchema): Validator {
  const check = checks.get(schema) ?? Compile(schema);
  checks.set(schema, check);
  return check;
}

const routes = routesOf(operations);

/** Returns the first segment of a path and their number, which leaves few operations to compare a path with. */
function sectionOf(path: string): string {
  const segments = path.split('/');
  return `${segments[1]} ${segments.length}`;
}

const patterns = Object.values(operations).map((operation: Operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  parameters: operation.path.match(/\{/g)?.length ?? 0,
}));
const patternsBySection = Map.groupBy(patterns, ({ operation }) => sectionOf(operation.path));

/**
 * Checks a response against the contract: fails the test if the operation does not declare the status, or declares
 * another body for it. Requests to unknown paths pass.
 */
export function holdAnswer(method: string, url: string, { status, headers, text }: Answered): void {
  const { pathname } = new URL(url);
  if (!pathname.startsWith(`${basePath}/`)) return;
  const path = pathname.slice(basePath.length).replace(/\/$/, '');
  const matching = (patternsBySection.get(sectionOf(path)) ?? []).filter(({ pattern }) => pattern.test(path));
  if (matching.length === 0) return;
  // Fixed names come before parameters, as in the router.
  const fewest = Math.min(...matching.map(({ parameters }) => parameters));
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = matching.find(
    ({ operation, parameters }) => parameters === fewest && operation.method === wanted,
  );
  if (found !== undefined) {
    const held = { status, headers, text: method === 'HEAD' ? null : text };
    holdAgainstContract(found.operation, held);
  } else if (status !== 405) expect.fail(`${method} ${path} is no operation, but answers ${status}: ${text}`);
}

interface Held {
  status: number;
  headers: Headers;
  /** Null for a response without a body. */
  text: string | null;
}

/** Fails unless the error has the header `Vitrine-Error` with a code of its status that the operation declares. */
function holdCode(operation: Operation, { status, headers, text }: Held): void {
  const header = headers.get(errorHeader);
  const code = parseErrorHeader(header)?.code ?? '';
  const known = isErrorCode(code) && definitionOf(code).status === status;
  if (!known || !codesOf(operation).has(code))
    expect.fail(
      `${operation.id} answers ${status} with the ${known ? 'undeclared' : 'unknown'} code ${header}: ${text}`,
    );
}

/** Fails unless the operation declares this status with this body. */
function holdAgainstContract(operation: Operation, held: Held): void {
  const { status, text } = held;
  const declared = operation.responses[status];
  if (declared === undefined) {
    const allowed: number[] = errorStatuses(operation);
    if (!allowed.includes(status))
      expect.fail(`${operation.id} answers ${status}, which it does not declare: ${text}`);
    if (text !== null && !errorShape.Check(JSON.parse(text)))
      expect.fail(`${operation.id}: ${text} is no error body`);
    holdCode(operation, held);
  } else if (!isPlain(declared) && text !== null) {
    const check = checkOf(declared);
    const body: unknown = JSON.parse(text);
    // Passes quickly, because most responses are valid.
    if (!check.Check(body))
      expect([...check.Errors(body)], `${operation.id} answers what its schema does not allow`).toEqual([]);
    // The cast states what the schema has checked.
    if (operation.id === 'getAssetMedia') expect(undeclaredRenditions(body as AssetMedia)).toEqual([]);
  }
}

/** Returns a response without the headers that differ between any two requests. */
export function comparable({ status, headers, text }: Answered) {
  const passing = ['date', 'x-request-id'];
  return { status, text, headers: [...headers].filter(([name]) => !passing.includes(name)) };
}

function readCookie(header: string | null): string | undefined {
  return header === null ? undefined : /(?:^|, )user=([^;]*)/.exec(header)?.[1];
}

/** Returns the whole body; an empty text for an event stream, which does not end. */
export async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.text();
  await response.body?.cancel();
  return '';
}

/** Returns a client of the library at this address that always sends these headers and begins with this session. */
export function visit(address: string, fixed: Record<string, string> = {}, token?: string): Visitor {
  let cookie = token;
  const exchangeAs = async (url: string, { headers = {}, ...init }: Sent): Promise<Answered> => {
    const session = cookie === undefined || cookie === '' ? {} : { cookie: `user=${cookie}` };
    // Compressing and decompressing every response takes up to a tenth of the time of tests that mostly send requests.
    const own = { 'accept-encoding': 'identity', ...headers, ...fixed, ...session };
    const answer = await exchange(url, { ...init, headers: own });
    const set = readCookie(answer.headers.get('set-cookie'));
    if (set !== undefined) cookie = set;
    return answer;
  };
  const clientFor = (id: OperationId) =>
    createClient<Operations>(routes, {
      baseUrl: address + basePath,
      // The client sends an address as text, with a plain object of headers.
      fetch: async (url, init) => {
        const answer = await exchangeAs(url as string, init as Sent);
        const { status, headers, text } = answer;
        holdAgainstContract(operations[id], answer);
        return new Response(text === '' ? null : text, { status, headers });
      },
    });
  const visitor: Visitor = {
    cookie: () => cookie,
    ok: (id, input) => clientFor(id).call(id, input),
    async refused(id, input) {
      const outcome = await clientFor(id)
        .call(id, input)
        .catch((error: unknown) => error);
      if (!(outcome instanceof CallError)) throw new Error(`${id} succeeds: ${JSON.stringify(outcome)}`);
      return { status: outcome.status, error: outcome.message };
    },
    async send(path, { method = 'GET', body, headers = {} } = {}) {
      const isJson = typeof body !== 'string' && !(body instanceof FormData);
      const sent = isJson ? (body === undefined ? null : JSON.stringify(body)) : body;
      const type =
        body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' };
      const url = address + basePath + path;
      const answer = await exchangeAs(url, { method, headers: { ...type, ...headers }, body: sent });
      holdAnswer(method, url, answer);
      return answer;
    },
    status: async (method, path, body) => (await visitor.send(path, { method, body })).status,
  };
  return visitor;
}

/** Fetches a path below the base path as this visitor, and returns the response with its bytes unread. */
export function requestAs(
  { cookie }: Pick<Visitor, 'cookie'>,
  { address }: { address: string },
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const token = cookie();
  const headers = { ...(token === undefined ? {} : { cookie: `user=${token}` }), ...init.headers };
  return fetch(address + basePath + path, { ...init, headers });
}

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Received, receive } from '../../content/assets/receive.ts';
import type { Storage } from '../../platform/storage/storage.ts';

/** Immich cannot be reached, refuses the key, or does not answer as documented: an import ends and can be run again. */
export class ImmichFailure extends Error {}

/** Immich cannot be reached at the moment. */
class Unreachable extends ImmichFailure {}

/** One file could not be read; the others can. */
export class FileFailure extends Error {}

/** Immich answers with a status that is no success. */
class BadStatus extends Error {
  readonly response: Response;
  constructor(response: Response) {
    super(`Immich answers with status ${response.status}`);
    this.response = response;
  }
}

/** A file of Immich with its SHA-1 in Base64. */
interface Downloaded {
  received: Received;
  sha1: string;
}

/** A server of Immich, as the owner of an API key sees it. */
export interface Immich {
  get<S extends TSchema>(path: string, schema: S): Promise<Static<S>>;
  post<S extends TSchema>(path: string, body: object, schema: S): Promise<Static<S>>;
  /** Downloads the original of an asset. Throws a FileFailure if it is missing or breaks off repeatedly. */
  download(id: string, storage: Storage): Promise<Downloaded>;
}

export interface Patience {
  /** How long the server may be silent. */
  silenceMs: number;
  /** The pauses before further attempts. */
  pausesMs: readonly number[];
}

export const usualPatience: Patience = { silenceMs: 120_000, pausesMs: [1000, 5000, 20_000] };

/** The longest answer that is read, in bytes. */
const MOST_BYTES = 512 * 1024 ** 2;

/** Statuses after which another attempt may succeed. */
const passing = new Set([408, 429, 500, 502, 503, 504]);

function mayPass(error: unknown): boolean {
  if (error instanceof BadStatus) return passing.has(error.response.status);
  return error instanceof FileFailure || error instanceof Unreachable;
}

/** Returns the address of the interface from that of the server: `http://photos.example:2283`, with or without `/api`. */
export function apiAddress(given: string): URL | null {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return null;
  url.search = '';
  url.hash = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/api$/, '')}/api/`;
  return url;
}

/** Ends a request when the server is silent for too long. */
function watch(silenceMs: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), silenceMs);
  return { signal: controller.signal, heard: () => timer.refresh(), end: () => clearTimeout(timer) };
}

type Watch = ReturnType<typeof watch>;

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : error.message;
}

/** Yields the body of a response. Throws a FileFailure if it breaks off or falls silent. */
async function* bodyOf(response: Response, { heard }: Watch): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) {
      heard();
      yield chunk;
    }
  } catch (error) {
    throw new FileFailure(`the answer broke off (${causeOf(error)})`);
  }
}

async function readJson(response: Response, watched: Watch): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyOf(response, watched)) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new ImmichFailure(`${response.url} answers with too many bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new ImmichFailure(`${response.url} does not answer with JSON; is it the address of Immich?`);
  }
}

function refusalOf(url: URL, { status, headers }: Response): ImmichFailure {
  if (status === 401) return new ImmichFailure('Immich does not know this API key');
  if (status === 403) return new ImmichFailure(`the API key lacks the permission for ${url.pathname}`);
  if (status >= 300 && status < 400)
    return new ImmichFailure(`${url.href} redirects to ${headers.get('location')}; give that address`);
  return new ImmichFailure(`${url.href} answers with status ${status}`);
}

/** Opens a server. Nothing is sent before the first call, and redirects are not followed, because they would receive the key. */
export function openImmich(address: URL, apiKey: string, { silenceMs, pausesMs }: Patience): Immich {
  const attempts = pausesMs.length + 1;
  const checks = new Map<TSchema, ReturnType<typeof Compile>>();
  const checkOf = (schema: TSchema) => {
    const check = checks.get(schema) ?? Compile(schema);
    checks.set(schema, check);
    return check;
  };

  async function send(url: URL, init: RequestInit, watched: Watch): Promise<Response> {
    try {
      const headers = { 'x-api-key': apiKey, accept: 'application/json, */*', ...init.headers };
      const response = await fetch(url, { ...init, headers, redirect: 'manual', signal: watched.signal });
      watched.heard();
      return response;
    } catch (error) {
      throw new Unreachable(`${url.origin} cannot be reached (${causeOf(error)})`);
    }
  }

  /**
   * Sends a request and reads its response; tries again after a failure that may pass, also a FileFailure of `read`. Throws
   * BadStatus.
   */
  async function withAttempts<T>(
    path: string,
    init: RequestInit,
    read: (response: Response, watched: Watch) => Promise<T>,
  ): Promise<T> {
    const url = new URL(path, address);
    for (let attempt = 1; ; attempt += 1) {
      const watched = watch(silenceMs);
      try {
        const response = await send(url, init, watched);
        if (response.ok) return await read(response, watched);
        await response.body?.cancel();
        throw new BadStatus(response);
      } catch (error) {
        if (attempt === attempts || !mayPass(error)) throw error;
      } finally {
        watched.end();
      }
      await sleep(pausesMs[attempt - 1]);
    }
  }

  async function call<S extends TSchema>(path: string, init: RequestInit, schema: S): Promise<Static<S>> {
    try {
      const answer = await withAttempts(path, init, readJson);
      const check = checkOf(schema);
      // The cast states what the schema has checked.
      if (check.Check(answer)) return answer as Static<S>;
      const [first] = check.Errors(answer);
      const where = first === undefined ? '' : `: ${first.instancePath} ${first.message}`;
      throw new ImmichFailure(`${path} does not answer as Immich does${where}`);
    } catch (error) {
      if (error instanceof BadStatus) throw refusalOf(new URL(path, address), error.response);
      throw error instanceof FileFailure ? new ImmichFailure(`${path}: ${error.message}`) : error;
    }
  }

  return {
    get: (path, schema) => call(path, {}, schema),
    post: (path, body, schema) =>
      call(
        path,
        {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        },
        schema,
      ),
    async download(id, storage) {
      const path = `assets/${encodeURIComponent(id)}/original`;
      try {
        return await withAttempts(path, {}, async (response, watched) => {
          const digest = createHash('sha1');
          const hashed = async function* () {
            for await (const chunk of bodyOf(response, watched)) {
              digest.update(chunk);
              yield chunk;
            }
          };
          const received = await receive(Readable.from(hashed(), { objectMode: false }), storage);
          return { received, sha1: digest.digest('base64') };
        });
      } catch (error) {
        if (!(error instanceof BadStatus)) throw error;
        const { response, message } = error;
        if (response.status === 401 || response.status === 403)
          throw refusalOf(new URL(path, address), response);
        throw new FileFailure(message);
      }
    },
  };
}

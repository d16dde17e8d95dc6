import type { Upload } from '@tus/server';
import type { Operation } from '@vitrine/contract/operation';
import { basePath } from '@vitrine/contract/operations';
import * as contract from '@vitrine/contract/uploads';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller, SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import type { BoundOperation } from '../../core/handle.ts';
import { Refusal, refuse } from '../../platform/http/refuse.ts';
import { hasBody, isFilePart } from '../../platform/http/slow-requests.ts';
import { inputChecks } from '../../platform/http/validate.ts';
import { type Sentence, sentence, verbatim } from '../../platform/language/sentence.ts';

const path = `${basePath}/uploads`;

const tusHeaders = { 'tus-resumable': '1.0.0' };

/** What @tus/server says of requests that a client of ours could send. */
const tusFaults: readonly Sentence[] = [
  sentence('Upload-Offset header required'),
  sentence('Upload-Offset conflict'),
  sentence('Upload-Length or Upload-Defer-Length header required'),
  sentence('Cannot terminate an already completed upload'),
  sentence('Request aborted due to lock acquired'),
];

/** Converts a tus error to one of ours. */
function refusalOf(status: number, text: string): Refusal {
  const headers = tusHeaders;
  const reason = tusFaults.find((fault) => fault.text === text) ?? verbatim(text);
  switch (status) {
    // A protocol header is missing, or the client requests an unsupported extension.
    case 400:
    case 403:
    case 501:
      return refuse('tus-refused', { reason }, headers);
    case 404:
    case 410:
      return refuse('not-found', {}, headers);
    case 409:
      return refuse('tus-state-conflict', { reason }, headers);
    case 413:
      return refuse('tus-too-large', {}, headers);
    default:
      throw new Error(`tus answered ${status}: ${text}`);
  }
}

/**
 * Returns the body as a web stream that holds no bytes of its own: 200 concurrent uploads would hold some 40 MB more in
 * the buffers of `Readable.toWeb`. Cancelling it leaves the connection open for the response.
 */
function bodyOf({ raw }: FastifyRequest, onFault: (error: Error) => void): ReadableStream | null {
  if (!hasBody(raw)) return null;
  let hasEnded = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: Error) => {
          onFault(error);
          if (hasEnded) return;
          hasEnded = true;
          controller.error(error);
        };
        raw.pause();
        raw.on('data', (chunk: Buffer) => {
          if (hasEnded) return;
          raw.pause();
          controller.enqueue(chunk);
        });
        raw.once('end', () => {
          if (hasEnded) return;
          hasEnded = true;
          controller.close();
        });
        raw.once('error', fail);
        const end = () => {
          if (!raw.complete) fail(new Error('the client has gone'));
        };
        raw.once('close', end);
        if (raw.closed) end();
      },
      pull() {
        raw.resume();
      },
      cancel() {
        hasEnded = true;
        raw.pause();
      },
    },
    { highWaterMark: 0 },
  );
}

function headersOf({ headers }: FastifyRequest): Headers {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) made.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return made;
}

function isTusError(error: unknown): error is { status_code: number; body: string } {
  return typeof error === 'object' && error !== null && 'status_code' in error;
}

/** Lets @tus/server handle a request of this caller. Throws its errors as ours, with our body. */
async function answer(
  deps: Deps,
  request: FastifyRequest,
  caller: SignedIn,
  confirm: () => Promise<unknown>,
): Promise<{ status: number; headers: Record<string, string> }> {
  let fault: unknown = null;
  // Loaded on first use, because its 42 modules slow the start.
  const [{ Server }, { storeFor }] = await Promise.all([import('@tus/server'), import('./store.ts')]);
  const server = new Server({
    path,
    datastore: storeFor(deps, caller),
    locker: await deps.uploads.turns(),
    relativeLocation: true,
    allowedOrigins: [],
    maxSize: deps.config.maxFileBytes,
    namingFunction: () => crypto.randomUUID(),
    async onUploadFinish(_request, { id, size }: Upload) {
      // Sending the bytes may have taken long, so check the caller again (HTTP-29).
      await confirm();
      await deps.uploads.finish(id, size ?? 0);
      return {};
    },
    onResponseError(_request, error) {
      if (isTusError(error)) return undefined;
      fault ??= error;
      return { status_code: 500, body: '' };
    },
  });
  const { method } = request;
  const body = bodyOf(request, (error) => {
    fault ??= error;
  });
  const init = { method, headers: headersOf(request), duplex: 'half' } as const;
  const address = `http://localhost${request.url}`;
  const response = await server.handleWeb(new Request(address, body === null ? init : { ...init, body }));
  const text = await response.text();
  if (response.status >= 400) {
    if (fault instanceof Refusal) throw fault.with(tusHeaders);
    if (request.raw.destroyed && !request.raw.complete) throw refuse('upload-interrupted');
    if (fault !== null) throw fault;
    // The only 500 that @tus/server raises itself: the lock was not acquired in time.
    if (response.status === 500) throw refuse('upload-locked', {}, tusHeaders);
    throw refusalOf(response.status, text.trim());
  }
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !/^(?:access-control-|content-)/.test(name)),
  );
  return { status: response.status, headers };
}

function checkVersion({ headers }: FastifyRequest): void {
  if (headers['tus-resumable'] === '1.0.0') return;
  throw refuse('tus-version-required', {}, { ...tusHeaders, 'tus-version': '1.0.0' });
}

function signedIn(caller: Caller): SignedIn {
  if (caller.kind !== 'user') throw refuse('sign-in-required');
  return caller;
}

/** Binds an operation that @tus/server handles. */
export function handleTus<O extends Operation>(operation: O): BoundOperation<O> {
  const checks = inputChecks(operation);
  return {
    operation,
    async run(deps, request, _http, confirm) {
      const caller = signedIn(await confirm());
      const isPart = isFilePart(request.raw);
      if (hasBody(request.raw) && !isPart) throw refuse('tus-content-type-required');
      if (request.method === 'PATCH' && !isPart) throw refuse('tus-content-type-required');
      checks.params(request.params);
      checkVersion(request);
      return answer(deps, request, caller, confirm);
    },
  };
}

export const create = handleTus(contract.createUpload);
export const append = handleTus(contract.appendToUpload);
export const remove = handleTus(contract.deleteUpload);

/**
 * `OPTIONS`: returns the capabilities of this server. The response is the same for every caller and reveals nothing
 * about uploads.
 */
export function serveUploadOptions(server: FastifyInstance, { config }: Pick<Deps, 'config'>): void {
  const headers = {
    ...tusHeaders,
    'tus-version': '1.0.0',
    'tus-max-size': String(config.maxFileBytes),
    'tus-extension': 'creation,creation-with-upload,creation-defer-length,termination,expiration',
  };
  for (const url of [path, `${path}/:id`]) {
    server.options(url, async (_request, reply) => reply.code(204).headers(headers).send());
  }
}

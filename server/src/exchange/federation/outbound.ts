import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import type { Config } from '../../core/config.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { isAllowedAddress, pinnedLookup } from '../../platform/http/outbound-addresses.ts';
import { type Sentence, SentenceError, sentence } from '../../platform/language/sentence.ts';
import type { Install } from './identity.ts';
import { mainKeyUri, parseInstanceUrl } from './protocol/addresses.ts';
import { signHttp } from './protocol/http-signature.ts';
import { Rejection } from './protocol/rejection.ts';
import { parseStrict } from './protocol/strict-json.ts';

/**
 * The kind of failure: nothing was sent to a refused address; the others name the stage at which the request
 * failed.
 */
export type OutboundFault =
  | 'unreachable'
  | 'refused_address'
  | 'too_slow'
  | 'too_large'
  | 'status'
  | 'other_bytes'
  | 'unexpected';

/** A request to another install that did not succeed. */
export class OutboundError extends SentenceError {
  readonly fault: OutboundFault;
  /** The status of the response; null without one. */
  readonly status: number | null;
  /** The protocol's reason code of a refusal, if the other install sent one. */
  readonly reason: string | null;
  /** The delay that the other library requests before the next request, in milliseconds; null if none. */
  readonly retryAfterMs: number | null;

  constructor(
    said: Sentence,
    {
      fault = 'unexpected',
      status = null,
      reason = null,
      retryAfterMs = null,
    }: Partial<Pick<OutboundError, 'fault' | 'status' | 'reason' | 'retryAfterMs'>> = {},
  ) {
    super(said);
    this.fault = fault;
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Timeouts of a request, in milliseconds. */
interface Patience {
  /** Until the headers of the response have arrived. */
  headersMs: number;
  /** Between two parts of the response. */
  idleMs: number;
  /** For a complete JSON response. */
  totalMs: number;
  /** For a complete file: a peer that sends a few bytes at a time must not hold a connection for ever. */
  bytesTotalMs: number;
}

const usual: Patience = { headersMs: 15_000, idleMs: 15_000, totalMs: 30_000, bytesTotalMs: 6 * 3600_000 };

/** `patience` overrides the default timeouts. */
export interface OutboundDeps {
  config: { federation: Pick<Config['federation'], 'privateAddresses'> };
  patience?: Partial<Patience>;
}

/** The largest response that is read into memory, in bytes. */
const MOST_JSON_BYTES = 1024 ** 2;
const MOST_REFUSAL_BYTES = 16 * 1024;

function refusedAddress(host: string): OutboundError {
  return new OutboundError(sentence('{host} has no address that requests may go to', { host }), {
    fault: 'refused_address',
  });
}

/** Returns the address if requests may go to it at all; throws OutboundError. */
function checkUrl(address: string, privateAddresses: boolean): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (
    url === null ||
    url.username !== '' ||
    url.password !== '' ||
    parseInstanceUrl(url.origin) !== url.origin
  )
    throw new OutboundError(sentence('that is not an address of an install'), { fault: 'refused_address' });
  // IP addresses need no lookup.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowedAddress(host, privateAddresses)) throw refusedAddress(host);
  return url;
}

/** A request as its callers describe it. */
interface OutboundRequest {
  method: 'GET' | 'POST';
  url: string;
  /** Signs the request; null sends it unsigned. */
  install: Install | null;
  accept: string;
  body: Buffer | null;
  headers?: Record<string, string>;
  totalMs: number;
}

/** Converts a connection failure to an OutboundError. */
export function asOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  if (!(error instanceof Error)) return new OutboundError(sentence('it cannot be read'));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.message;
  return new OutboundError(sentence('it cannot be reached ({code})', { code }), { fault: 'unreachable' });
}

function headersOf(
  { method, install, accept, body, headers }: OutboundRequest,
  url: URL,
): Record<string, string> {
  const signed =
    install === null
      ? { host: url.host }
      : signHttp({
          method,
          url,
          body,
          keyId: mainKeyUri(`${install.url}/federation/instance`),
          privateKey: install.former?.get(url.origin) ?? install.key.privateKey,
          now: Date.now(),
        });
  return {
    ...signed,
    ...(body !== null && { 'content-type': 'application/json' }),
    accept,
    ...headers,
    // A compressed response could be a thousand times as large as its bytes.
    'accept-encoding': 'identity',
    'user-agent': 'Vitrine',
    ...(body !== null && { 'content-length': String(body.length) }),
  };
}

/** Sends a request and returns the response once its headers have arrived. Does not follow redirects. */
function open(deps: OutboundDeps, wanted: OutboundRequest): Promise<IncomingMessage> {
  const { privateAddresses } = deps.config.federation;
  const patience = { ...usual, ...deps.patience };
  const url = checkUrl(wanted.url, privateAddresses);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolved, failed) => {
    let response: IncomingMessage | null = null;
    const request: ClientRequest = send(url, {
      method: wanted.method,
      headers: headersOf(wanted, url),
      agent: false,
      lookup: pinnedLookup(privateAddresses, refusedAddress),
      maxHeaderSize: 16 * 1024,
    });
    const stop = (detail: Sentence) => {
      const error = new OutboundError(detail, { fault: 'too_slow' });
      (response ?? request).destroy(error);
    };
    const timers = [
      setTimeout(
        () => response === null && stop(sentence('it does not respond in time')),
        patience.headersMs,
      ),
      setTimeout(() => stop(sentence('it takes too long to respond')), wanted.totalMs),
    ];
    request.setTimeout(patience.idleMs, () => stop(sentence('it has stopped responding')));
    request.on('close', () => timers.forEach(clearTimeout));
    request.on('error', (error) => failed(asOutboundError(error)));
    request.on('response', (received) => {
      response = received;
      resolved(received);
    });
    request.end(wanted.body ?? undefined);
  });
}

const tooLarge = () => new OutboundError(sentence('its response is too large'), { fault: 'too_large' });

/** Reads the body of a response up to a limit. */
async function bodyOf(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const announced = Number(response.headers['content-length'] ?? 0);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (announced > mostBytes) throw tooLarge();
    for await (const chunk of response) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostBytes) throw tooLarge();
    }
  } catch (error) {
    response.destroy();
    throw asOutboundError(error);
  }
  return Buffer.concat(chunks);
}

/** Returns the reason that a refusal gives, if it gives one. */
async function reasonOf(response: IncomingMessage): Promise<string | null> {
  try {
    const body = parseStrict(await bodyOf(response, MOST_REFUSAL_BYTES));
    const reason: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'error') : null;
    return typeof reason === 'string' && /^[a-z_]{1,60}$/.test(reason) ? reason : null;
  } catch {
    // The status alone is reported.
    return null;
  }
}

async function refusalOf(response: IncomingMessage): Promise<OutboundError> {
  const status = response.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    response.destroy();
    const said = sentence('it redirects ({status}), which is not followed', { status: String(status) });
    return new OutboundError(said, { fault: 'status', status });
  }
  const reason = await reasonOf(response);
  const detail =
    reason === null
      ? sentence('it responds with {status}', { status: String(status) })
      : sentence('it responds with {status} ({reason})', { status: String(status), reason });
  const seconds = /^\d{1,6}$/.exec(response.headers['retry-after'] ?? '')?.[0];
  const retryAfterMs = seconds === undefined ? null : Number(seconds) * 1000;
  return new OutboundError(detail, { fault: 'status', status, reason, retryAfterMs });
}

/** Throws unless the response has one of these statuses and is not compressed. */
async function checkResponse(response: IncomingMessage, ...expected: number[]): Promise<void> {
  if (!expected.includes(response.statusCode ?? 0)) throw await refusalOf(response);
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return;
  response.destroy();
  throw new OutboundError(sentence('its response is compressed, which was not asked for'));
}

async function jsonOf(response: IncomingMessage): Promise<unknown> {
  const [type = ''] = (response.headers['content-type'] ?? '').split(';');
  if (!/^application\/([a-z.-]+\+)?json$/.test(type.trim().toLowerCase())) {
    response.destroy();
    throw new OutboundError(sentence('its response is not JSON'));
  }
  const body = await bodyOf(response, MOST_JSON_BYTES);
  try {
    return parseStrict(body);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    throw new OutboundError(
      sentence('its response is not strict JSON: {reason}', { reason: sentenceOfError(error) }),
    );
  }
}

/** Reads a JSON document of another install, signed by this one if given. Throws OutboundError. */
export async function getJson(
  deps: OutboundDeps,
  url: string,
  install: Install | null = null,
): Promise<unknown> {
  const { totalMs } = { ...usual, ...deps.patience };
  const accept = 'application/activity+json, application/json';
  const response = await open(deps, { method: 'GET', url, install, accept, body: null, totalMs });
  await checkResponse(response, 200);
  return jsonOf(response);
}

/**
 * Reads a JSON document with headers that the caller has signed. Accepts no redirects, no compressed responses, and at
 * most a mebibyte. Throws OutboundError.
 */
export async function getJsonWith(
  deps: OutboundDeps,
  url: string,
  headers: Record<string, string>,
): Promise<unknown> {
  const { totalMs } = { ...usual, ...deps.patience };
  const accept = 'application/activity+json';
  const response = await open(deps, {
    method: 'GET',
    url,
    install: null,
    accept,
    headers,
    body: null,
    totalMs,
  });
  await checkResponse(response, 200);
  return jsonOf(response);
}

/**
 * Sends a body with headers that the caller has signed, and ignores what the response says. Throws OutboundError unless
 * the status is 2xx.
 */
export async function postWith(
  deps: OutboundDeps,
  url: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<void> {
  const { totalMs } = { ...usual, ...deps.patience };
  const accept = 'application/activity+json';
  const response = await open(deps, { method: 'POST', url, install: null, accept, headers, body, totalMs });
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) throw await refusalOf(response);
  response.destroy();
}

/**
 * Sends a signed JSON body, text as it is, and returns the JSON of the response, or null if it has none. Throws
 * OutboundError.
 */
export async function postSigned(
  deps: OutboundDeps,
  install: Install,
  url: string,
  body: object | string,
): Promise<unknown> {
  const { totalMs } = { ...usual, ...deps.patience };
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const accept = 'application/json';
  const response = await open(deps, { method: 'POST', url, install, accept, body: bytes, totalMs });
  await checkResponse(response, 200, 201, 202, 204);
  if (response.statusCode !== 204 && response.headers['content-length'] !== '0') return jsonOf(response);
  response.resume();
  return null;
}

/**
 * Opens bytes of another install with a signed request: all of them, or those from an offset on. The stream fails when
 * the peer is too slow or breaks off; its length is for the caller to check. Throws OutboundError.
 */
export async function getBytes(
  deps: OutboundDeps,
  install: Install,
  url: string,
  range: { start: number; end?: number } | null = null,
): Promise<Readable> {
  const { bytesTotalMs } = { ...usual, ...deps.patience };
  const headers = range === null ? {} : { range: `bytes=${range.start}-${range.end ?? ''}` };
  const response = await open(deps, {
    method: 'GET',
    url,
    install,
    accept: '*/*',
    body: null,
    headers,
    totalMs: bytesTotalMs,
  });
  await checkResponse(response, range === null ? 200 : 206);
  if (range !== null && !response.headers['content-range']?.startsWith(`bytes ${range.start}-`)) {
    response.destroy();
    throw new OutboundError(sentence('it sends another range than asked for'));
  }
  return response;
}

/** Returns whether requests may go to this address, as far as that is known before its name is resolved. */
export function checkOutboundAddress({ config }: OutboundDeps, address: string): boolean {
  try {
    checkUrl(address, config.federation.privateAddresses);
    return true;
  } catch (error) {
    if (error instanceof OutboundError) return false;
    throw error;
  }
}

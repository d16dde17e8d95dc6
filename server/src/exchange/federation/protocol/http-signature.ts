import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import { Rejection } from './rejection.ts';
import { publicKeyOf } from './signature.ts';

/** A request whose signature is made or checked. */
export interface RequestParts {
  method: string;
  /** Path and query, exactly as in the request line. */
  path: string;
  /** Headers by lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The exact bytes; empty without a body. */
  body: Buffer;
  /** Milliseconds since 1970. */
  now: number;
  /**
   * Host and port under which this install is known. Without this check, one peer could pass on what another one sent
   * to it.
   */
  host?: string;
}

/** The `Signature` header of a request. */
export interface HttpSignature {
  keyId: string;
  algorithm: string;
  /** What the signature covers, in order. */
  covered: string[];
  signature: Buffer;
  created: string | undefined;
  expires: string | undefined;
}

/** The tolerated difference between the clocks of two installs. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;
const SIGNATURE_BYTES = 64;
const MOST_HEADER_CHARACTERS = 4000;

const names = ['keyId', 'algorithm', 'headers', 'signature', 'created', 'expires'];

/** Returns the parameters of a `Signature` header; throws Rejection for anything but a list of known ones. */
function readParameters(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const parameter = /([A-Za-z]+)=(?:"([^"\\]*)"|(\d{1,15}))\s*(,\s*|$)/y;
  while (parameter.lastIndex < header.length) {
    const [, name = '', text, number] = parameter.exec(header) ?? [];
    if (!names.includes(name) || parameters.has(name))
      throw new Rejection('unsigned', 'the Signature header is malformed');
    parameters.set(name, text ?? number ?? '');
  }
  return parameters;
}

/** Reads the signature of a request without checking it; throws Rejection. */
export function readSignature({ headers }: Pick<RequestParts, 'headers'>): HttpSignature {
  const { signature: header } = headers;
  if (typeof header !== 'string' || header === '' || header.length > MOST_HEADER_CHARACTERS)
    throw new Rejection('unsigned', 'the request is not signed');
  const parameters = readParameters(header);
  const keyId = parameters.get('keyId');
  const encoded = parameters.get('signature');
  if (keyId === undefined || encoded === undefined)
    throw new Rejection('unsigned', 'the Signature header lacks keyId or signature');
  const signature = Buffer.from(encoded, 'base64');
  if (encoded === '' || signature.toString('base64') !== encoded)
    throw new Rejection('sig_malformed', 'the signature of the request is not base64');
  const covered = (parameters.get('headers') ?? 'date').split(' ');
  if (new Set(covered).size < covered.length || covered.some((name) => name !== name.toLowerCase()))
    throw new Rejection('sig_malformed', 'the list of signed headers is malformed');
  return {
    keyId,
    algorithm: parameters.get('algorithm') ?? '',
    covered,
    signature,
    created: parameters.get('created'),
    expires: parameters.get('expires'),
  };
}

function signedValue(
  name: string,
  parts: RequestParts,
  signature: Pick<HttpSignature, 'created' | 'expires'>,
) {
  if (name === '(request-target)') return `${parts.method.toLowerCase()} ${parts.path}`;
  if (name === '(created)') return signature.created;
  if (name === '(expires)') return signature.expires;
  const value = parts.headers[name];
  return Array.isArray(value) ? value.join(', ') : value?.trim();
}

/**
 * Returns the text that a signature covers (draft-cavage-http-signatures-12, 2.3); throws Rejection if a part is
 * absent.
 */
export function signingString(
  parts: RequestParts,
  signature: Pick<HttpSignature, 'covered' | 'created' | 'expires'>,
): string {
  const lines = signature.covered.map((name) => {
    const value = signedValue(name, parts, signature);
    if (value === undefined) throw new Rejection('sig_invalid', `${name.slice(0, 100)} is signed but absent`);
    return `${name}: ${value}`;
  });
  return lines.join('\n');
}

/** Returns the `Digest` header of a body. */
export function digestOf(body: Uint8Array): string {
  return `SHA-256=${createHash('sha256').update(body).digest('base64')}`;
}

const mustCover = ['(request-target)', 'host', 'date'];

/** Returns the parts that a request must sign. Requests without a body have no digest. */
function requiredOf({ method, body }: RequestParts): string[] {
  const isBodyless = (method === 'GET' || method === 'HEAD') && body.length === 0;
  return isBodyless ? mustCover : [...mustCover, 'digest'];
}

function checkDate(parts: RequestParts, { created, expires }: HttpSignature): void {
  const { date } = parts.headers;
  const isHttpDate =
    typeof date === 'string' && /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.test(date);
  const times = [isHttpDate ? Date.parse(date) : Number.NaN];
  if (created !== undefined) times.push(Number(created) * 1000);
  // Written so that NaN, from an invalid date, is rejected too.
  if (!times.every((time) => Math.abs(time - parts.now) <= CLOCK_TOLERANCE_MS))
    throw new Rejection('stale_request', 'the date of the request is more than five minutes away');
  if (expires !== undefined && !(Number(expires) * 1000 >= parts.now))
    throw new Rejection('stale_request', 'the signature of the request has expired');
}

/**
 * Checks that a request was signed with one of these raw Ed25519 keys, that the signature covers everything it must,
 * that the digest is that of the body and the date is within the tolerance. Throws Rejection.
 */
export function checkHttpSignature(
  parts: RequestParts,
  signature: HttpSignature,
  rawKeys: readonly Uint8Array[],
): void {
  if (signature.algorithm !== 'hs2019')
    throw new Rejection('unsupported_algorithm', 'the request is not signed with hs2019 and Ed25519');
  if (signature.signature.length !== SIGNATURE_BYTES)
    throw new Rejection('sig_malformed', 'the signature of the request does not have 64 bytes');
  const missing = requiredOf(parts).find((name) => !signature.covered.includes(name));
  if (missing !== undefined) throw new Rejection('unsigned', `the signature does not cover ${missing}`);
  const text = Buffer.from(signingString(parts, signature));
  if (!rawKeys.some((raw) => verify(null, text, publicKeyOf(raw), signature.signature)))
    throw new Rejection('sig_invalid', 'the signature does not fit the request');
  checkDate(parts, signature);
  const needsDigest = parts.body.length > 0 || signature.covered.includes('digest');
  if (needsDigest && parts.headers.digest !== digestOf(parts.body))
    throw new Rejection('sig_invalid', 'the digest does not fit the body');
  if (parts.host !== undefined && parts.headers.host !== parts.host)
    throw new Rejection('sig_invalid', 'the request was signed for another host');
}

/** Returns the headers that sign a request to `url`; the body has a digest unless it is null. */
export function signHttp(request: {
  method: string;
  url: URL;
  body: Uint8Array | null;
  keyId: string;
  privateKey: KeyObject;
  now: number;
}): Record<string, string> {
  const { method, url, body, keyId, privateKey, now } = request;
  const headers: Record<string, string> = { host: url.host, date: new Date(now).toUTCString() };
  if (body !== null) headers.digest = digestOf(body);
  const covered = ['(request-target)', ...Object.keys(headers)];
  const path = `${url.pathname}${url.search}`;
  const parts = { method, path, headers, body: Buffer.alloc(0), now };
  const text = signingString(parts, { covered, created: undefined, expires: undefined });
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
  return {
    ...headers,
    signature: `keyId="${keyId}",algorithm="hs2019",headers="${covered.join(' ')}",signature="${signature}"`,
  };
}

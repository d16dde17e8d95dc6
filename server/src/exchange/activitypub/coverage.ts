import { createHash } from 'node:crypto';
import { type Dictionary, decodeDict, encodeDict } from 'structured-field-values';

/** A request whose signatures are to be verified. */
export interface SignedRequest {
  method: string;
  url: URL;
  /** Null without a body. */
  body: Uint8Array | null;
  /** Milliseconds since 1970. */
  now: number;
}

/** What a signature of RFC 9421 must cover, and in addition if the request has a body. */
const derived = ['@method', '@target-uri'];
const contentDigest = 'content-digest';
/** The same for draft-cavage. */
const drafted = ['(request-target)', 'host', 'date'];
const digest = 'digest';

const hashes = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** Tells whether all digests with a known hash are those of the body, and at least one is known. */
function matches(digests: readonly (readonly [hash: string, base64: string])[], body: Uint8Array): boolean {
  const known = digests.flatMap(([name, value]) => {
    const hash = hashes.get(name.trim().toLowerCase());
    return hash === undefined ? [] : [{ hash, value: value.trim() }];
  });
  return (
    known.length > 0 &&
    known.every(({ hash, value }) => createHash(hash).update(body).digest('base64') === value)
  );
}

function needsDigest({ method, body }: SignedRequest): boolean {
  return (method !== 'GET' && method !== 'HEAD') || (body !== null && body.length > 0);
}

function decode(header: string | null): Dictionary {
  try {
    return decodeDict(header ?? '');
  } catch {
    return {};
  }
}

/** Tells whether `Content-Digest` has the digest of the body. */
function hasContentDigest(headers: Headers, body: Uint8Array): boolean {
  const digests = Object.entries(decode(headers.get(contentDigest))).map(([hash, { value }]) => {
    const base64 = value instanceof Uint8Array ? Buffer.from(value).toString('base64') : '';
    return [hash, base64] as const;
  });
  return matches(digests, body);
}

/** Tells whether the parameters of a signature say that it was created, and that it has not expired. */
function isCurrent(parameters: Record<string, unknown> | null, now: number): boolean {
  const { created, expires } = parameters ?? {};
  if (!Number.isSafeInteger(created)) return false;
  return expires === undefined || (Number.isSafeInteger(expires) && Number(expires) * 1000 >= now);
}

/**
 * Returns the names of the components that a signature covers. Returns null if one of them is repeated or has
 * parameters, which fedify does not apply.
 */
function componentsOf(items: unknown): string[] | null {
  if (!Array.isArray(items)) return null;
  const names: string[] = [];
  for (const { value, params } of items) {
    if (typeof value !== 'string' || value !== value.toLowerCase() || names.includes(value)) return null;
    if (params !== null && Object.keys(params).length > 0) return null;
    names.push(value);
  }
  return names;
}

function keepStandard(headers: Headers, request: SignedRequest): boolean {
  const hasDigest = needsDigest(request);
  if (hasDigest && !hasContentDigest(headers, request.body ?? new Uint8Array())) return false;
  const required = hasDigest ? [...derived, contentDigest] : derived;
  const sufficient = Object.entries(decode(headers.get('signature-input'))).filter(([, item]) => {
    const components = componentsOf(item.value);
    const covers = components !== null && required.every((name) => components.includes(name));
    return covers && isCurrent(item.params, request.now);
  });
  if (sufficient.length === 0) return false;
  headers.set('signature-input', encodeDict(Object.fromEntries(sufficient)));
  return true;
}

/** Returns the parameters of a `Signature` header; null if one is repeated (draft-cavage-12, 2.2). */
function readParameters(header: string): Map<string, string> | null {
  const parameters = new Map<string, string>();
  for (const [, name = '', text, number] of header.matchAll(/([A-Za-z]+)=(?:"([^",]*)"|(\d+))/g)) {
    if (parameters.has(name)) return null;
    parameters.set(name, text ?? number ?? '');
  }
  return parameters;
}

/** Tells whether a header that a signature covers is there. */
function isPresent(name: string, headers: Headers, parameters: Map<string, string>): boolean {
  if (name === '(request-target)') return true;
  if (name === '(created)' || name === '(expires)') return parameters.has(name.slice(1, -1));
  return !name.startsWith('(') && headers.has(name);
}

function keepDrafted(headers: Headers, request: SignedRequest): boolean {
  const parameters = readParameters(headers.get('signature') ?? '');
  const [keyId, list, signature] = ['keyId', 'headers', 'signature'].map((name) => parameters?.get(name));
  if (parameters === null || keyId === undefined || list === undefined || signature === undefined)
    return false;
  // Fedify verifies the path without the query, and no address that needs a signature has one.
  if (request.url.search !== '') return false;
  const covered = list.split(' ');
  if (new Set(covered).size < covered.length) return false;
  try {
    if (!covered.every((name) => isPresent(name, headers, parameters))) return false;
  } catch {
    // A name that no header can have.
    return false;
  }
  const hasDigest = needsDigest(request);
  if (!(hasDigest ? [...drafted, digest] : drafted).every((name) => covered.includes(name))) return false;
  const digests = (headers.get(digest) ?? '').split(',').map((pair) => {
    const [hash = '', ...value] = pair.split('=');
    return [hash, value.join('=')] as const;
  });
  if (hasDigest && !matches(digests, request.body ?? new Uint8Array())) return false;
  // Fedify reads these parameters only.
  const times = ['created', 'expires'].flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [`${name}=${/^\d+$/.test(value) ? value : `"${value}"`}`];
  });
  const parts = [`keyId="${keyId}"`, `headers="${list}"`, `signature="${signature}"`, ...times];
  headers.set('signature', parts.join(','));
  return true;
}

/**
 * Keeps the signatures of a request that cover its method, its address and its body and have not expired, and
 * removes the others from the headers: fedify accepts signatures whatever they cover. Returns false if the
 * request is signed and no signature is left (AP-16).
 */
export function keepSufficientSignatures(headers: Headers, request: SignedRequest): boolean {
  if (headers.has('signature-input')) return keepStandard(headers, request);
  return !headers.has('signature') || keepDrafted(headers, request);
}

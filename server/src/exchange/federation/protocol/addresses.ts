/** The longest address of anything that is stored. */
export const mostUriCharacters = 500;

/** The kinds of objects that have addresses. The address of a comment is a part of that of its post. */
const objectKinds = ['posts', 'assets', 'collections', 'workspaces', 'brand_kits'] as const;
export type ObjectKind = (typeof objectKinds)[number];

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const UUID_4 = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const BASE = 'https?://[^/?#@\\\\]+';

const activityPattern = new RegExp(`^(${BASE})/activities/(${UUID_4})$`);
const objectPattern = new RegExp(`^(${BASE})/(${objectKinds.join('|')})/(${UUID})$`);
const actorPattern = new RegExp(`^(${BASE})/users/([^/?#]+)$`);
const commentPattern = new RegExp(`^(${BASE})/posts/(${UUID})#comment-(${UUID})$`);
const namePattern = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Returns whether a host name in the form of URL is this machine. */
function isLoopbackName(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/**
 * Returns the address of an install in its normal form, without a trailing slash, or null for what cannot be one: https
 * with a host in lower case and perhaps a port, and nothing else. Plain http is for this machine only, and requests to
 * it are refused unless private addresses are allowed.
 */
export function parseInstanceUrl(text: string): string | null {
  if (text.length > mostUriCharacters || !/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text) || !URL.canParse(text))
    return null;
  const { protocol, host, hostname, port } = new URL(text);
  if (!hostname.startsWith('[') && !namePattern.test(hostname)) return null;
  if (port === '0' || (protocol === 'http:' && !isLoopbackName(hostname))) return null;
  return `${protocol}//${host}`;
}

/** Returns whether this is the address of an install in its normal form. */
function isBase(text: string | undefined): text is string {
  return text !== undefined && text === parseInstanceUrl(text);
}

function match(pattern: RegExp, text: string): RegExpExecArray | null {
  const found = text.length > mostUriCharacters ? null : pattern.exec(text);
  return found !== null && isBase(found[1]) ? found : null;
}

/** Returns the address of an activity; `id` is a random UUID (version 4). */
export function activityUri(base: string, id: string): string {
  return `${base}/activities/${id}`;
}

/** Returns install and id of the address of an activity, or null. */
export function parseActivityUri(text: string): { base: string; id: string } | null {
  const [, base, id] = match(activityPattern, text) ?? [];
  return base === undefined || id === undefined ? null : { base, id };
}

/** Returns the address of an object. */
export function objectUri(base: string, kind: ObjectKind, id: string): string {
  return `${base}/${kind}/${id}`;
}

/** Returns install, kind and id from the address of an object, or null. */
export function parseObjectUri(text: string): { base: string; kind: ObjectKind; id: string } | null {
  const [, base, name, id] = match(objectPattern, text) ?? [];
  const kind = objectKinds.find((known) => known === name);
  return base === undefined || kind === undefined || id === undefined ? null : { base, kind, id };
}

/** Returns the address of a comment, a part of its post: the protocol reserves other paths. */
export function commentUri(base: string, postId: string, id: string): string {
  return `${objectUri(base, 'posts', postId)}#comment-${id}`;
}

/** Returns install, post and id of the address of a comment, or null. */
export function parseCommentUri(text: string): { base: string; post: string; id: string } | null {
  const [, base, post, id] = match(commentPattern, text) ?? [];
  return base === undefined || post === undefined || id === undefined ? null : { base, post, id };
}

/** Returns the address of a person; names are percent-encoded as encodeURIComponent does. */
export function actorUri(base: string, username: string): string {
  return `${base}/users/${encodeURIComponent(username)}`;
}

function decode(segment: string): string | null {
  try {
    const text = decodeURIComponent(segment);
    // One person has one address: no other encoding of the same name.
    return encodeURIComponent(text) === segment ? text : null;
  } catch {
    return null;
  }
}

/** Returns install and name of the address of a person, or null. */
export function parseActorUri(text: string): { base: string; username: string } | null {
  const [, base, segment = ''] = match(actorPattern, text) ?? [];
  const username = decode(segment);
  if (base === undefined || username === null || username.includes('\0')) return null;
  return username === '' || username === '.' || username === '..' ? null : { base, username };
}

/** Returns the address of the key that signs for a person, or for an install at its document's address. */
export function mainKeyUri(owner: string): string {
  return `${owner}#main-key`;
}

/** Bytes identified by the hash of their content. Type and size are null if the address does not state them. */
export interface CasRef {
  /** SHA-256, in lower-case hex. */
  hash: string;
  contentType: string | null;
  /** In bytes. */
  size: number | null;
}

/** Bytes of ours, whose type and size are known. */
export interface KnownBytes {
  hash: string;
  contentType: string;
  size: number;
}

const mediaType =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,99}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}(; ?[a-z0-9-]{1,20}=[a-z0-9_.+-]{1,40}){0,2}$/i;

/** Returns whether this is a media type, such as `audio/ogg; codecs=opus`. */
export function isMediaType(text: string): boolean {
  return mediaType.test(text);
}

/** Returns the address of bytes. */
export function casUri({ hash, contentType, size }: KnownBytes): string {
  return `cas://${hash}?content-type=${encodeURIComponent(contentType).replaceAll('%2F', '/')}&size=${size}`;
}

/** Returns the decoded media type of an address; null if it is malformed. */
function parseContentType(encoded: string): string | null {
  if (/%(?![0-9a-f]{2})/i.test(encoded)) return null;
  const contentType = encoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return isMediaType(contentType) ? contentType : null;
}

/** Returns the size of an address; null if it is malformed. */
function parseSize(text: string): number | null {
  return /^(0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
}

/** Parses the address of bytes; null if it is malformed. Both parameters are optional, in any order (FED-97). */
export function parseCasUri(text: string): CasRef | null {
  const [, hash, query] = /^cas:\/\/([0-9a-f]{64})(?:\?([^#\s]+))?$/.exec(text) ?? [];
  if (hash === undefined || text.length > mostUriCharacters) return null;
  const given = new Map<string, string>();
  for (const part of query?.split('&') ?? []) {
    const [, name = '', value = ''] = /^(content-type|size)=([^=]+)$/.exec(part) ?? [];
    if (name === '' || given.has(name)) return null;
    given.set(name, value);
  }
  const [encoded, digits] = [given.get('content-type'), given.get('size')];
  const contentType = encoded === undefined ? null : parseContentType(encoded);
  const size = digits === undefined ? null : parseSize(digits);
  if ((encoded !== undefined && contentType === null) || (digits !== undefined && size === null)) return null;
  return { hash, contentType, size };
}

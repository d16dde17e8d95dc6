import { refuse } from './refuse.ts';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

/** Keyset of a page ordered by a time (or a number, as text) and an id. */
export interface TimeKey {
  at: string;
  id: string;
}

/** Encodes an opaque cursor for a row. */
export function cursorAfter(key: TimeKey): string {
  return Buffer.from(`${key.at} ${key.id}`).toString('base64url');
}

/** Decodes a cursor; null without one. A malformed cursor is 400 (HTTP-8). */
export function readCursor(cursor: string | undefined): TimeKey | null {
  if (cursor === undefined) return null;
  const [at, id, more] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const wellFormed = at !== undefined && id !== undefined && more === undefined;
  if (!wellFormed || !timePattern.test(at) || Number.isNaN(Date.parse(at)) || !uuidPattern.test(id)) {
    throw refuse(400, 'malformed cursor');
  }
  return { at, id };
}

/** Decodes a cursor of a list ordered by a number and an id. A malformed cursor is 400. */
export function readNumberCursor(cursor: string | undefined): TimeKey | null {
  if (cursor === undefined) return null;
  const [at, id, more] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const wellFormed = at !== undefined && id !== undefined && more === undefined;
  if (!wellFormed || !/^-?\d{1,9}(\.\d{1,20})?(e-?\d{1,2})?$/.test(at) || !uuidPattern.test(id)) {
    throw refuse(400, 'malformed cursor');
  }
  return { at, id };
}

/** Encodes an opaque cursor for an account or a job by its number. */
export function refCursorAfter(ref: number): string {
  return Buffer.from(`ref ${ref}`).toString('base64url');
}

/** Decodes such a cursor; null without one. A malformed cursor is 400. */
export function readRefCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const ref = /^ref (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.[1];
  if (ref === undefined) throw refuse(400, 'malformed cursor');
  return Number(ref);
}

/** Encodes an opaque cursor for a row by its code. */
export function codeCursorAfter(code: string): string {
  return Buffer.from(`code ${code}`).toString('base64url');
}

/** Decodes a cursor of a code; null without one. A malformed cursor is 400. */
export function readCodeCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const code = /^code ([\w.-]{1,100})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.[1];
  if (code === undefined) throw refuse(400, 'malformed cursor');
  return code;
}

/** Encodes an opaque cursor of a list ordered by lower-case name and id. */
export function nameCursorAfter(name: string, id: string): string {
  return Buffer.from(`name ${id} ${name}`).toString('base64url');
}

/** Decodes such a cursor; null without one. A malformed cursor is 400. */
export function readNameCursor(cursor: string | undefined): { name: string; id: string } | null {
  if (cursor === undefined) return null;
  const [, id, name] =
    /^name (\S{36}) (.{0,500})$/s.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (id === undefined || name === undefined || !uuidPattern.test(id) || name.includes('\0')) {
    throw refuse(400, 'malformed cursor');
  }
  return { name, id };
}

/** Keyset of a list ordered by a whole number, as text, and an id. */
export interface PlaceKey {
  place: string;
  id: string;
}

/** Encodes an opaque cursor of a manually ordered list. */
export function placeCursorAfter({ place, id }: PlaceKey): string {
  return Buffer.from(`place ${place} ${id}`).toString('base64url');
}

/** Decodes such a cursor; null without one. A malformed cursor is 400. */
export function readPlaceCursor(cursor: string | undefined): PlaceKey | null {
  if (cursor === undefined) return null;
  const [, place, id] =
    /^place (-?\d{1,18}) (\S{36})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (place === undefined || id === undefined || !uuidPattern.test(id)) throw refuse(400, 'malformed cursor');
  return { place, id };
}

/** The last tag of a page: in the group that begins with the search text, or in the group that contains it. */
export interface TagKey {
  part: 'beginning' | 'within';
  name: string;
}

/** Encodes an opaque cursor of a list of tags. */
export function tagCursorAfter(part: TagKey['part'], name: string): string {
  return Buffer.from(`tag ${part} ${name}`).toString('base64url');
}

/** Decodes such a cursor; null without one. A malformed cursor is 400. */
export function readTagCursor(cursor: string | undefined): TagKey | null {
  if (cursor === undefined) return null;
  const [, part, name] =
    /^tag (beginning|within) (.{1,300})$/s.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if ((part !== 'beginning' && part !== 'within') || name === undefined || name.includes('\0')) {
    throw refuse(400, 'malformed cursor');
  }
  return { part, name };
}

/** Keyset of a list of lists, each manually ordered: place and id in the outer list and in the inner one. */
export interface NestedPlaceKey {
  outer: PlaceKey;
  inner: PlaceKey;
}

/** Encodes an opaque cursor of such a list. */
export function nestedCursorAfter({ outer, inner }: NestedPlaceKey): string {
  return Buffer.from(`nested ${outer.place} ${outer.id} ${inner.place} ${inner.id}`).toString('base64url');
}

/** Decodes such a cursor; null without one. A malformed cursor is 400. */
export function readNestedCursor(cursor: string | undefined): NestedPlaceKey | null {
  if (cursor === undefined) return null;
  const [, outerPlace, outerId, innerPlace, innerId] =
    /^nested (-?\d{1,18}) (\S{36}) (-?\d{1,9}) (\S{36})$/.exec(
      Buffer.from(cursor, 'base64url').toString('utf8'),
    ) ?? [];
  if (outerPlace === undefined || outerId === undefined || innerPlace === undefined || innerId === undefined)
    throw refuse(400, 'malformed cursor');
  if (!uuidPattern.test(outerId) || !uuidPattern.test(innerId)) throw refuse(400, 'malformed cursor');
  return { outer: { place: outerPlace, id: outerId }, inner: { place: innerPlace, id: innerId } };
}

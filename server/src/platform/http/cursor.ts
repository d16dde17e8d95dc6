import { type Static, type TObject, Type } from 'typebox';
import { compileLater } from './compile-later.ts';
import { refuse } from './refuse.ts';

/** Encodes the sort key of the last row of a page as an opaque cursor, and decodes it (HTTP-8). */
export interface CursorCodec<Key> {
  /** Returns the cursor of the page after the row with this key. */
  after(key: Key): string;
  /** Returns the key in a cursor; null without one. A malformed cursor, or one of another kind of list, is 400. */
  read(cursor: string | undefined): Key | null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Creates the codec of a kind of list whose sort key has this schema. */
export function cursorCodec<Schema extends TObject>(
  kind: string,
  schema: Schema,
): CursorCodec<Static<Schema>> {
  const compiled = compileLater(schema);
  const properties = Object.keys(schema.properties);
  const start = `${kind} `;
  return {
    after(key) {
      const own = Object.fromEntries(properties.map((name) => [name, Reflect.get(key, name)]));
      return Buffer.from(start + JSON.stringify(own)).toString('base64url');
    },
    read(cursor) {
      if (cursor === undefined) return null;
      const text = Buffer.from(cursor, 'base64url').toString('utf8');
      const key = text.startsWith(start) ? parsed(text.slice(start.length)) : undefined;
      if (!compiled().Check(key)) throw refuse('malformed-cursor');
      return key;
    },
  };
}

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' });
/** A time of PostgreSQL in UTC, with microseconds. */
export const CursorTime = Type.Refine(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$' }),
  (at) => !Number.isNaN(Date.parse(at)),
  () => 'is no time',
);
/** A number as PostgreSQL prints it. */
const CursorNumber = Type.String({ pattern: '^-?\\d{1,9}(\\.\\d{1,20})?(e-?\\d{1,2})?$' });
const WholeNumber = Type.String({ pattern: '^-?\\d{1,18}$' });
/** Text without the character that PostgreSQL does not store. */
export const cursorText = (mostCharacters: number) =>
  Type.String({ pattern: '^[^\\u0000]*$', maxLength: mostCharacters });

/** Lists ordered by a time and an id. */
export const timeCursor = cursorCodec('time', Type.Object({ at: CursorTime, id: Uuid }));
export type TimeKey = Parameters<typeof timeCursor.after>[0];

/** Lists ordered by a number, as text, and an id. */
export const numberCursor = cursorCodec('number', Type.Object({ at: CursorNumber, id: Uuid }));

/** Lists of accounts, jobs and others ordered by their number. */
export const refCursor = cursorCodec('ref', Type.Object({ ref: Type.Integer({ minimum: 0 }) }));

/** Lists ordered by a code. */
export const codeCursor = cursorCodec(
  'code',
  Type.Object({ code: Type.String({ pattern: '^[\\w.-]{1,100}$' }) }),
);

/** Lists ordered by a name in lower case and an id. */
export const nameCursor = cursorCodec('name', Type.Object({ name: cursorText(500), id: Uuid }));

const Place = Type.Object({ place: WholeNumber, id: Uuid });

/** Lists in an order that people arranged: by a whole number, as text, and an id. */
export const placeCursor = cursorCodec('place', Place);

/** Lists of such lists: place and id in the outer list and in the inner one. */
export const nestedCursor = cursorCodec('nested', Type.Object({ outer: Place, inner: Place }));
export type NestedPlaceKey = Parameters<typeof nestedCursor.after>[0];

/** Assets ordered by the beginning of their title. */
export const titleCursor = cursorCodec('title', Type.Object({ title: cursorText(200), id: Uuid }));

/** Assets ordered by the size of their file. */
export const sizeCursor = cursorCodec('size', Type.Object({ size: WholeNumber, id: Uuid }));

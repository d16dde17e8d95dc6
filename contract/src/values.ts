import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { visibilityNames } from './visibilities.ts';

/** An object that rejects unknown properties in requests and responses. */
export function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** Returns properties that all have one schema. */
export function propertiesOf<Key extends string, S extends TSchema>(
  keys: readonly Key[],
  schema: S,
): Record<Key, S> {
  // Object.fromEntries does not keep the type of the keys.
  return Object.fromEntries(keys.map((key) => [key, schema])) as Record<Key, S>;
}

/** A value that may be null (HTTP-6). */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** HTTP-3: identifiers named `id` or `*_id`. */
export const Uuid = Type.String({ format: 'uuid' });

/** HTTP-4: identifiers named `*_ref`, integers that JSON represents exactly. */
export const Ref = Type.Integer({
  format: 'int64',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
});

/** HTTP-17: `clear_*` in a PATCH removes a value. Absent and null leave it unchanged, as for every other property. */
export const Removal = Type.Optional(nullable(Type.Boolean()));

/** An int64 count. */
export const Count = Type.Integer({ format: 'int64', minimum: 0 });

/** RFC 3339, UTC. */
export const Timestamp = Type.String({ format: 'date-time' });

/** A name: one line with at least one visible character. */
export const NameOnOneLine = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
});

export const Email = Type.String({ minLength: 3, maxLength: 320, pattern: '^[^\\s@]+@[^\\s@]+$' });

export const AiProvenance = Type.Enum(['none', 'assisted', 'generated']);
export type AiProvenance = Static<typeof AiProvenance>;

/** POST-16, ASSET-19: the most tags of a post or an asset. */
export const mostTags = 50;

/** Tags of 1 to 64 characters. */
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: mostTags });

/** The name of a thing. */
export const Titled = closed({ id: Uuid, title: Type.String() });

/** The reason for an action, for the audit log or the trash. */
export const Reason = closed({ reason: Type.Optional(nullable(Type.String({ maxLength: 500 }))) });

/** Anything older is permanently removed each night; null keeps everything. */
export const Retention = closed({ retention_days: nullable(Type.Integer({ minimum: 1, maximum: 36_500 })) });

const degrees = '-?[0-9]{1,3}(\\.[0-9]{1,15})?';

/** West, south, east and north in degrees, as `5.9,45.8,10.5,47.8`. */
export const BoundingBox = Type.String({
  pattern: `^${degrees},${degrees},${degrees},${degrees}$`,
  maxLength: 100,
});

/** HTTP-7: the paging parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  /** Long enough for a cursor with a name of 200 characters in any script. */
  cursor: Type.Optional(Type.String({ maxLength: 1500 })),
};

/** HTTP-7: the response of every list. */
export function page<S extends TSchema>(item: S) {
  return closed({ items: Type.Array(item), next_cursor: nullable(Type.String()) });
}

/** The audience of a post or a collection. */
export const Visibility = Type.Enum([...visibilityNames]);

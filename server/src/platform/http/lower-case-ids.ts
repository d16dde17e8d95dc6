import type { TSchema } from 'typebox';

/** Writes identifiers in lower case, as the database does, so that handlers can compare them with ids that they have read. */
type Writer = (value: unknown) => unknown;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null;

function writerOfItems(items: Writer): Writer {
  return (value) => (Array.isArray(value) ? value.map(items) : value);
}

function writerOfProperties(properties: object): Writer | null {
  const writers = Object.entries(properties).flatMap(([name, schema]) => {
    const writer = isSchema(schema) ? lowerCaseIds(schema) : null;
    return writer === null ? [] : [[name, writer] as const];
  });
  if (writers.length === 0) return null;
  const writerOf = new Map(writers);
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, writerOf.get(name)?.(inner) ?? inner]),
    );
  };
}

/** Applies the writers of all schemas of the union. */
function writerOfUnion(schemas: readonly unknown[]): Writer | null {
  const writers = schemas.flatMap((schema) => (isSchema(schema) ? (lowerCaseIds(schema) ?? []) : []));
  if (writers.length === 0) return null;
  return (value) => writers.reduce((written, write) => write(written), value);
}

/** Returns what writes the identifiers of a value of this schema in lower case; null for a schema without identifiers. */
export function lowerCaseIds(schema: TSchema): Writer | null {
  if ('format' in schema && schema.format === 'uuid')
    // Another schema of a union may take any text.
    return (value) => (typeof value === 'string' && uuid.test(value) ? value.toLowerCase() : value);
  if ('items' in schema && isSchema(schema.items)) {
    const items = lowerCaseIds(schema.items);
    return items === null ? null : writerOfItems(items);
  }
  if ('properties' in schema && isSchema(schema.properties)) return writerOfProperties(schema.properties);
  return 'anyOf' in schema && Array.isArray(schema.anyOf) ? writerOfUnion(schema.anyOf) : null;
}

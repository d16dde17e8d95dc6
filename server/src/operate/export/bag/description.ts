import { text } from 'node:stream/consumers';
import { type Static, Type } from 'typebox';
import { compileLater } from '../../../platform/http/compile-later.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { ExportError, type Place } from './paths.ts';

const ExportedRows = Type.Object({
  name: Type.String({ pattern: '^[a-z_][a-z0-9_]*$' }),
  columns: Type.Array(Type.String({ pattern: '^[a-z_][a-z0-9_]*$' }), { minItems: 1 }),
  rows: Type.Integer({ minimum: 0 }),
});
export type ExportedRows = Static<typeof ExportedRows>;

const Description = Type.Object({
  format: Type.Literal(1),
  /** All of a library, which can be imported, or what belongs to one person. */
  kind: Type.Enum(['library', 'person']),
  /** The name of that person. */
  user: Type.Union([Type.String(), Type.Null()]),
  title: Type.String(),
  version: Type.String(),
  complete: Type.Boolean(),
  exported_at: Type.String(),
  /** The schema that the rows belong to. */
  migrations: Type.Array(Type.String({ pattern: '^[0-9]{4}_\\w+\\.sql$' })),
  tables: Type.Array(ExportedRows),
  /** The last number that each sequence has given. */
  sequences: Type.Array(
    Type.Object({
      name: Type.String({ pattern: '^[a-z_][a-z0-9_]*$' }),
      value: Type.String({ pattern: '^[0-9]+$' }),
    }),
  ),
});
export type Description = Static<typeof Description>;

const compiled = compileLater(Description);

/** The longest description, of many thousand tables. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Reads what an export is. Throws ExportError if there is none. */
export async function readDescription(place: Place, path: string): Promise<Description> {
  const found = await place.look(path);
  if (found === null)
    throw new ExportError(sentence('there is no export in {directory}', { directory: place.root }));
  if (found.size > MOST_BYTES) throw new ExportError(sentence('{path} is too large', { path }));
  try {
    const read: unknown = JSON.parse(await text(await place.read(path)));
    if (compiled().Check(read)) return read;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ExportError(sentence('{path} does not describe an export that this version can read', { path }));
}

export function formatDescription(description: Description): string {
  return `${JSON.stringify(description, null, 2)}\n`;
}

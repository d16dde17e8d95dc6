import { sql } from 'kysely';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import type { Context } from './context.ts';
import type { TableName } from './source.ts';

const assetStays = sentence('is no longer in ResourceSpace; its asset stays');

/** Where the things of a kind are in ResourceSpace. */
const places = [
  ['resource', 'resource', assetStays],
  ['alternative', 'resource_alt_files', assetStays],
  ['collection', 'collection', sentence('is no longer in ResourceSpace; the collection here stays')],
  ['comment', 'comment', sentence('is no longer in ResourceSpace; the comment here stays')],
  ['user', 'user', sentence('is no longer in ResourceSpace; the account here stays')],
] as const satisfies readonly (readonly [string, TableName, Sentence])[];

/** Reports what an earlier run has imported and is no longer there. Nothing is deleted here (IMPORT-10). */
export async function reportVanished({ staging, ledger, reporter }: Context): Promise<void> {
  for (const [kind, table, what] of places) {
    const known = ledger.idsOf(kind);
    if (known.length === 0) continue;
    const gone = await staging.query<{ id: string }>(
      `select x.id from unnest($1::text[]) x (id)
        where not exists (select from rs_${table} t where t.ref = x.id::double precision) order by x.id::double precision`,
      [known],
    );
    for (const { id } of gone) reporter.vanish(kind, id, what);
  }
}

/** Reports values that an import has written and that the resource no longer has; they stay. */
export async function reportVanishedValues(
  { deps, reporter }: Context,
  ref: number,
  assetId: string,
  fieldIds: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ code: string }>`
    select f.code from asset_field_values v join fields f on f.id = v.field_id
    where v.asset_id = ${assetId} and v.set_by = 'import' and v.field_id <> all(${[...fieldIds]}::uuid[])
      and exists (select from imported_ids i where i.kind = 'field' and i.target = f.id::text)
    order by f.code`.execute(deps.db);
  for (const { code } of rows)
    reporter.vanish(
      'value',
      `${ref}/${code}`,
      sentence('was removed in ResourceSpace; the value here stays'),
    );
}

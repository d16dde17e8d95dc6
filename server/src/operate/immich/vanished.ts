import { sql } from 'kysely';
import { sentence } from '../../platform/language/sentence.ts';
import type { Context } from './context.ts';

/** Returns the old ids of what earlier runs have imported into the account and Immich no longer has. */
async function goneFrom(
  { deps, ledger, owner }: Context,
  kind: 'resource' | 'collection',
  table: 'assets' | 'collections',
  present: (id: string) => boolean,
): Promise<string[]> {
  const gone = ledger.idsOf(kind).filter((id) => !present(id));
  if (gone.length === 0) return [];
  const targetOf = (id: string) => ledger.find(kind, id)?.target ?? '';
  // Other runs have imported what other accounts of Immich have.
  const { rows } = await sql<{ id: string }>`select x.id::text from ${sql.table(table)} x
    where x.id = any(${gone.map(targetOf)}::uuid[]) and x.owner_user_ref = ${owner.ref} and x.deleted_at is null`.execute(
    deps.db,
  );
  const own = new Set(rows.map(({ id }) => id));
  return gone.filter((id) => own.has(targetOf(id)));
}

/** Reports what an earlier run imported and Immich no longer has. Nothing is deleted here (IMPORT-10). */
export async function reportVanished(context: Context): Promise<void> {
  const { library, reporter } = context;
  const albums = new Set(library.albums.map(({ id }) => id));
  for (const id of await goneFrom(context, 'resource', 'assets', (old) => library.assets.has(old)))
    reporter.vanish('resource', id, sentence('is no longer in Immich; its asset stays'));
  for (const id of await goneFrom(context, 'collection', 'collections', (old) => albums.has(old)))
    reporter.vanish('album', id, sentence('is no longer in Immich; the collection here stays'));
}

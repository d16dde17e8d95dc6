import { sql } from 'kysely';
import type { Context } from './context.ts';

/** Returns the ids there, of what an import has brought into an account, that are no longer there. */
async function goneFrom(
  { deps, ledger, owner }: Context,
  kind: 'resource' | 'collection',
  table: 'assets' | 'collections',
  present: (id: string) => boolean,
): Promise<string[]> {
  const targets = new Map(
    ledger.idsOf(kind).flatMap((id) => (present(id) ? [] : [[id, ledger.find(kind, id)?.target ?? '']])),
  );
  if (targets.size === 0) return [];
  // Other runs have imported what other accounts of Immich have.
  const { rows } = await sql<{ id: string }>`select x.id::text from ${sql.table(table)} x
    where x.id = any(${[...targets.values()]}::uuid[]) and x.owner_user_ref = ${owner.ref} and x.deleted_at is null`.execute(
    deps.db,
  );
  const own = new Set(rows.map(({ id }) => id));
  return [...targets].flatMap(([id, target = '']) => (own.has(target) ? [id] : []));
}

/** Reports what an earlier run has imported and is no longer there. Nothing is deleted here (IMPORT-10). */
export async function reportVanished(context: Context): Promise<void> {
  const { library, reporter } = context;
  const albums = new Set(library.albums.map(({ id }) => id));
  for (const id of await goneFrom(context, 'resource', 'assets', (old) => library.assets.has(old)))
    reporter.vanish('resource', id, 'is no longer in Immich; its asset stays');
  for (const id of await goneFrom(context, 'collection', 'collections', (old) => albums.has(old)))
    reporter.vanish('album', id, 'is no longer in Immich; the collection here stays');
}

import { type DuplicateKind, mostDuplicates } from '@vitrine/contract/duplicates';
import { type RawBuilder, sql } from 'kysely';
import { editableAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Database } from '../../platform/database/pool.ts';

/** Files that are the same or alike, as far as the caller may edit assets with them. */
export interface Group {
  readonly id: string;
  readonly kind: DuplicateKind;
  readonly hashes: readonly string[];
}

/** The asset of a group that stays, and those that it replaces, in the order in which they give it what it lacks. */
export interface Merge {
  readonly keep: string;
  readonly remove: readonly string[];
}

/** The assets that the caller may edit, of each file the newest. */
export function editableCopies(caller: SignedIn, condition: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`(select c.id, c.file_hash, c.created_at from (
      select a.id, a.file_hash, a.created_at,
        row_number() over (partition by a.file_hash order by a.created_at desc, a.id desc) as place
      from assets a where ${editableAssets(caller)} and ${condition}) c
    where c.place <= ${sql.lit(mostDuplicates)})`;
}

/** The id of the group of files with the same bytes: the first half of their hash. */
export const exactId = sql<string>`left(x.file_hash, 32)::uuid`;

/** Finds the group of this id; null if there is none. It may have fewer than two assets for the caller. */
export async function findGroup(db: Database, id: string): Promise<Group | null> {
  const { rows } = await sql<{ hashes: string[] }>`
    select array[s.first_hash, s.second_hash] as hashes from similar_files s where s.id = ${id}`.execute(db);
  const [similar] = rows;
  if (similar !== undefined) return { id, kind: 'similar', hashes: similar.hashes };
  const start = id.replaceAll('-', '').toLowerCase();
  // A hash in hexadecimal comes before its start with a `g`.
  const { rows: files } = await sql<{ hash: string }>`
    select f.hash from files f where f.hash >= ${start} and f.hash < ${`${start}g`} limit 1`.execute(db);
  const [file] = files;
  return file === undefined ? null : { id, kind: 'exact', hashes: [file.hash] };
}

/** Returns the assets of groups that the caller may edit, by the hash of their file, newest first. */
export async function readCopies(
  db: Database,
  caller: SignedIn,
  hashes: readonly string[],
): Promise<Map<string, string[]>> {
  const copies = editableCopies(caller, sql`a.file_hash = any(${[...hashes]}::text[])`);
  const { rows } = await sql<{ id: string; hash: string }>`
    select x.id, x.file_hash as hash from ${copies} x order by x.created_at desc, x.id desc`.execute(db);
  const byHash = Map.groupBy(rows, ({ hash }) => hash);
  return new Map([...byHash].map(([hash, own]) => [hash, own.map(({ id }) => id)]));
}

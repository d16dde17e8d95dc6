import { resolveDuplicates } from '@vitrine/contract/duplicates';
import { sql } from 'kysely';
import { editableAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { findGroup, readCopies } from './groups.ts';
import { mergeAssets } from './merge.ts';

/** Returns the assets of the group by file; the same 404 for an unknown group and for one of which the caller may edit less than two. */
async function readMembers(tx: Tx, caller: SignedIn, id: string): Promise<readonly (readonly string[])[]> {
  const group = await findGroup(tx, id);
  if (group === null) throw notFound();
  const copies = await readCopies(tx, caller, group.hashes);
  const members = group.hashes.map((hash) => copies.get(hash) ?? []);
  const isWhole = group.kind === 'exact' || members.every((own) => own.length > 0);
  if (!isWhole || members.flat().length < 2) throw notFound();
  return members;
}

/** Locks assets in the order of their ids; a 404 when the caller may not edit all of them any more. */
async function lockAll(tx: Tx, caller: SignedIn, ids: readonly string[]): Promise<void> {
  const { rows } = await sql`select a.id from assets a
    where a.id = any(${[...ids]}::uuid[]) and ${editableAssets(caller)} order by a.id
    for no key update of a`.execute(tx);
  if (rows.length < ids.length) throw notFound();
}

/** Remembers that assets of different files, or copies of one file, are no duplicates (DUPLICATE-5). */
async function markDifferent(
  tx: Tx,
  caller: SignedIn,
  members: readonly (readonly string[])[],
): Promise<void> {
  const [first = [], second = first] = members;
  await sql`insert into different_assets (first_id, second_id, user_ref)
    select distinct least(x.id, y.id), greatest(x.id, y.id), ${caller.ref}::bigint
    from unnest(${[...first]}::uuid[]) x (id), unnest(${[...second]}::uuid[]) y (id) where x.id <> y.id
    on conflict (first_id, second_id) do nothing`.execute(tx);
}

export const resolve = handle(resolveDuplicates, async ({ db }, { caller, params, body }) => {
  const { keep } = body;
  const remove = [...new Set(body.remove)];
  const merges = keep !== undefined && body.remove !== undefined;
  const isClear =
    body.different === true
      ? keep === undefined && body.remove === undefined
      : merges && !remove.includes(keep);
  if (!isClear) throw refuse('keep-or-different');
  await db.transaction().execute(async (tx) => {
    const members = await readMembers(tx, caller, params.id);
    if (!merges) return markDifferent(tx, caller, members);
    const foreign = [keep, ...remove].find((id) => !members.flat().includes(id));
    if (foreign !== undefined)
      throw refuse('duplicate-not-member', { property: foreign === keep ? 'keep' : 'remove' });
    await lockAll(tx, caller, [keep, ...remove]);
    await mergeAssets(tx, caller, { keep, remove });
  });
  return { status: 204 };
});

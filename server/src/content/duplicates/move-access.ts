import { sql } from 'kysely';
import { heldAlike } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { liveLink } from '../../access/links.ts';
import { recordEvents } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { roomForLinks } from '../links/terms.ts';
import type { Merge } from './groups.ts';

interface MovedShare {
  user_ref: number;
  expires_at: string | null;
}

/** Shares the kept asset with the accounts that the others are shared with. A share that it has stays as it is. */
async function moveShares(tx: Tx, caller: SignedIn, { keep, remove }: Merge): Promise<void> {
  const { rows } = await sql<MovedShare>`
    with gone as (
      delete from asset_shares s using assets a, assets k
      where s.asset_id = a.id and a.id = any(${[...remove]}::uuid[]) and k.id = ${keep} and ${heldAlike}
      returning s.user_ref, s.shared_by_user_ref, s.created_at, s.expires_at)
    insert into asset_shares (asset_id, user_ref, shared_by_user_ref, created_at, expires_at)
    select distinct on (user_ref) ${keep}::uuid, user_ref, shared_by_user_ref, created_at, expires_at from gone
    where expires_at is null or expires_at > now()
    order by user_ref, expires_at desc nulls first
    on conflict (asset_id, user_ref) do nothing returning user_ref, expires_at`.execute(tx);
  const events = rows.map(({ user_ref, expires_at }) => ({
    event: 'asset.shared',
    subjectUserRef: user_ref,
    target: { kind: 'asset' as const, id: keep },
    ...(expires_at === null ? {} : { metadata: { expires_at } }),
  }));
  await recordEvents(tx, caller, events);
}

interface MovedLink {
  id: string;
  label: string;
}

/**
 * Lets links to the others show the kept asset, the newest first as far as there is room. A link to a fixed version stays
 * with the file that has it.
 */
async function moveLinks(tx: Tx, caller: SignedIn, { keep, remove }: Merge): Promise<void> {
  const { rows } = await sql<MovedLink>`
    with moving as (
      select l.id, l.asset_id from share_links l join assets a on a.id = l.asset_id join assets k on k.id = ${keep}
      where a.id = any(${[...remove]}::uuid[]) and l.version is null and ${liveLink} and not k.mature and ${heldAlike}
      order by l.created_at desc, l.id desc
      limit ${roomForLinks('asset', keep)}),
    counted as (
      update share_link_files u set asset_id = ${keep} from moving m
      where u.link_id = m.id and u.asset_id = m.asset_id returning u.link_id),
    picked as (
      update link_picks k set asset_id = ${keep} from moving m
      where k.link_id = m.id and k.asset_id = m.asset_id returning k.link_id),
    decided as (
      update link_decisions d set asset_id = ${keep} from moving m
      where d.link_id = m.id and d.asset_id = m.asset_id returning d.link_id)
    update share_links l set asset_id = ${keep}, updated_at = now() from moving m where l.id = m.id
    returning l.id, l.label`.execute(tx);
  const events = rows.map(({ id, label }) => ({
    event: 'link.changed',
    target: { kind: 'link' as const, id },
    metadata: { label, target_kind: 'asset', target_id: keep, changes: { target_id: keep } },
  }));
  await recordEvents(tx, caller, events);
}

/** Moves named shares and links of the removed assets to the kept one, if it is held alike (DUPLICATE-6). */
export async function moveAccess(tx: Tx, caller: SignedIn, merge: Merge): Promise<void> {
  await moveShares(tx, caller, merge);
  await moveLinks(tx, caller, merge);
}

import { sql } from 'kysely';
import { type GuestTerms, mayWrite } from '../../access/guests.ts';
import { type Guest, type LinkVisitor, linkedAssets, liveLink } from '../../access/links.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';

type TermsRow = Columns<'share_links', 'allow_feedback' | 'allow_picks' | 'max_picks'>;

/**
 * Locks the assets that a guest writes about, in the order of their purge, before the link. 404 if the link does not show
 * one of them.
 */
export async function lockLinked(tx: Tx, visitor: LinkVisitor, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a where a.id = any(${ids}::uuid[]) and ${linkedAssets(visitor)}
    order by a.id for key share of a`.execute(tx);
  if (rows.length < new Set(ids).size) throw notFound();
}

/**
 * Locks the link, so that its terms hold until the transaction ends, and returns them. 404 if it works no longer, and
 * `refusal` if the present terms do not allow the write.
 */
export async function lockTerms(
  tx: Tx,
  { linkId }: Pick<LinkVisitor, 'linkId'>,
  allows: (terms: GuestTerms) => boolean,
  refusal: 'link-feedback-not-allowed' | 'link-picks-not-allowed' | 'link-without-guests',
): Promise<{ maxPicks: number | null }> {
  const { rows } = await sql<TermsRow>`select l.allow_feedback, l.allow_picks, l.max_picks from share_links l
    where l.id = ${linkId} and ${liveLink} for share of l`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!allows({ allowFeedback: row.allow_feedback, allowPicks: row.allow_picks })) throw refuse(refusal);
  return { maxPicks: row.max_picks };
}

/** Locks the guest, so that their writes come one after the other. 401 without a name, 403 for a muted guest. */
export async function lockGuest(tx: Tx, { guest }: Pick<LinkVisitor, 'guest'>): Promise<Guest> {
  const row =
    guest === null
      ? undefined
      : await tx
          .selectFrom('link_guests')
          .select(['id', 'name', 'muted_at'])
          .where('id', '=', guest.id)
          .forNoKeyUpdate()
          .executeTakeFirst();
  if (row === undefined) throw refuse('guest-without-name');
  const locked = { id: row.id, name: row.name, muted: row.muted_at !== null };
  if (!mayWrite(locked)) throw refuse('guest-muted');
  return locked;
}

/** Notifies the account that made the link of what a guest leaves there (NOTICE-21). */
export function announceGuests(tx: Tx, { linkId }: Pick<LinkVisitor, 'linkId'>): Promise<void> {
  return announce(tx, { what: 'guest_feedback', link: linkId });
}

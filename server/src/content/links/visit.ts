import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { AssetSelection } from '@vitrine/contract/batches';
import { nameGuest } from '@vitrine/contract/guests';
import { unlockLink } from '@vitrine/contract/link-visits';
import type { TargetKind } from '@vitrine/contract/links';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import { type Guest, type LinkVisitor, liveLink, liveTarget } from '../../access/links.ts';
import { visitor } from '../../access/visitors.ts';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { hashToken } from '../../people/identity/sessions.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import type { ScopedCookie } from '../../platform/http/answer.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { matchingFiles } from '../collections/filling.ts';
import { findPresets } from '../downloads/presets.ts';
import { targetColumns } from './target.ts';

/** A valid link, before its password is checked. */
export interface LiveLink
  extends Columns<
    'share_links',
    | 'id'
    | 'created_by_user_ref'
    | 'password_hash'
    | 'allow_download'
    | 'watermark'
    | 'version'
    | 'presets'
    | 'expires_at'
    | 'allow_feedback'
    | 'allow_picks'
    | 'max_picks'
  > {
  target_kind: TargetKind;
  target_id: string;
  guest_id: string | null;
  guest_name: string | null;
  guest_muted: boolean;
}

/** How long a password unlocks a link in a browser. */
const UNLOCKED_SECONDS = 12 * 3600;

const tables = {
  post: sql`posts p where p.id`,
  asset: sql`assets a where a.id`,
  collection: sql`collections c where c.id`,
};

async function findLink(db: Database, token: string, guestToken: string | null): Promise<LiveLink | null> {
  if (!/^[A-Za-z0-9]{32}$/.test(token)) return null;
  const { rows } = await sql<LiveLink>`
    select l.id, ${targetColumns},
      l.created_by_user_ref, l.password_hash, l.allow_download, l.watermark, l.version, l.presets,
      l.expires_at,
      l.allow_feedback, l.allow_picks, l.max_picks, g.id as guest_id, g.name as guest_name,
      g.muted_at is not null as guest_muted
    from share_links l
      left join link_guests g on g.link_id = l.id and g.token_hash = ${guestToken === null ? null : hashToken(guestToken)}
    where l.token_hash = ${hashToken(token)} and ${liveLink}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Returns the link of this token, and its creator. The same 404 for a link that is unknown, expired or revoked, whose target is deleted
 * or a draft, or whose creator is not active or may no longer edit the target.
 */
export async function findLiveLink(
  { db }: Pick<Deps, 'db'>,
  token: string,
  http: Pick<HttpFacts, 'cookie'>,
): Promise<{ link: LiveLink; creator: SignedIn }> {
  const link = await findLink(db, token, http.cookie(nameGuest.cookie));
  if (link === null) throw notFound();
  const creator = await callerOf(db, link.created_by_user_ref);
  if (creator === null) throw notFound();
  const { rows } = await sql`select from ${tables[link.target_kind]} = ${link.target_id}
    and ${liveTarget(link.target_kind, creator, link.version)}`.execute(db);
  if (rows.length === 0) throw notFound();
  return { link, creator };
}

/** Returns the proof that the password of a link was given; valid for that password and until that time. */
function proofOf(secretKey: string, linkId: string, passwordHash: string, until: string): string {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'vitrine link unlock', 32));
  return createHmac('sha256', key).update(`${linkId} ${until} ${passwordHash}`).digest('base64url');
}

/** Returns the cookie that proves the password, limited to this link's addresses. */
export function unlockedCookie(secretKey: string, token: string, link: LiveLink): ScopedCookie | null {
  if (link.password_hash === null) return null;
  const until = String(Date.now() + UNLOCKED_SECONDS * 1000);
  return {
    name: unlockLink.cookie,
    value: `${until}.${proofOf(secretKey, link.id, link.password_hash, until)}`,
    path: `${basePath}/links/${token}`,
    maxAgeSeconds: UNLOCKED_SECONDS,
  };
}

function isUnlocked(secretKey: string, { id, password_hash }: LiveLink, cookie: string | null): boolean {
  if (password_hash === null) return true;
  const [, until, proof] = /^(\d{1,15})\.([\w-]{43})$/.exec(cookie ?? '') ?? [];
  if (until === undefined || proof === undefined || Number(until) <= Date.now()) return false;
  return timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(secretKey, id, password_hash, until)));
}

/** Returns what the query of a smart collection matches for visitors; null if it has none. */
async function fillingOf(db: Database, id: string) {
  const { rows } = await sql<{ query: AssetSelection | null }>`
    select c.query from collections c where c.id = ${id}`.execute(db);
  const query = rows[0]?.query ?? null;
  return query === null ? null : matchingFiles(db, visitor, query);
}

function guestOf({ guest_id: id, guest_name: name, guest_muted: muted }: LiveLink): Guest | null {
  return id === null || name === null ? null : { id, name, muted };
}

/** Returns the visitor with this token; 404 for an invalid link, 401 if the password is still required. */
export async function visitLink(
  deps: Pick<Deps, 'db' | 'secretKey'>,
  token: string,
  http: Pick<HttpFacts, 'cookie'>,
): Promise<{ link: LiveLink; visitor: LinkVisitor }> {
  const { link, creator } = await findLiveLink(deps, token, http);
  if (!isUnlocked(deps.secretKey, link, http.cookie(unlockLink.cookie)))
    throw refuse('link-password-required');
  return {
    link,
    visitor: {
      kind: 'link',
      linkId: link.id,
      target: { kind: link.target_kind, id: link.target_id },
      filling: link.target_kind === 'collection' ? await fillingOf(deps.db, link.target_id) : null,
      allowDownload: link.allow_download,
      watermark: link.watermark,
      version: link.version,
      // Those that still exist and that the creator still has.
      presets: link.presets === null ? null : await findPresets(deps.db, creator, link.presets),
      allowFeedback: link.allow_feedback,
      allowPicks: link.allow_picks,
      maxPicks: link.max_picks,
      guest: guestOf(link),
    },
  };
}

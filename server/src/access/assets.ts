import type { Capability } from '@vitrine/contract/capabilities';
import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, type SignedIn, teamsWith } from './caller.ts';
import { lasting, live, unexpired } from './live.ts';
import { listedPosts, publishedPost } from './posts.ts';

/**
 * Who is given which asset, its columns and its bytes, and which posts a feed keeps because of their members. Predicates
 * refer to a row of `assets` with the alias `a`, or to `posts p`.
 */
export type Predicate = RawBuilder<boolean>;

export const liveAsset: Predicate = live('a');

/** The file is not damaged, or was not processed yet (MEDIA-6). */
export const intact: Predicate = sql`a.processing_status in ('ready', 'pending')`;

/** Readable without an account: sensitivity public, or passed on by a public post (ASSET-2). */
export const openToVisitors: Predicate = sql`(a.sensitivity = 'public' or (a.sensitivity = 'posts' and a.exposure = 'public'))`;

/** ASSET-2 `anonymously_visible`: whether anonymous callers are given the asset. Does not depend on the caller. */
export const anonymouslyVisible: Predicate = sql`(a.deleted_at is null and a.status = 'active'
  and ${openToVisitors} and (a.processing_status = 'ready' or a.interim_hash is not null) and ${lasting('a')})`;

/**
 * The hash of the file whose renditions are shown for an asset `a`: while a new version is being prepared, those of the
 * version before (VERSION-6).
 */
export const renderedHash = sql<string>`coalesce(a.interim_hash, a.file_hash)`;

/** Live assets that this account owns, without the rights of administrators. */
export function ownAssets(ownerRef: number): Predicate {
  return sql`(a.owner_user_ref = ${ownerRef} and ${liveAsset})`;
}

/** Administrators of assets are given every row that is not deleted. */
function administers(caller: Caller): boolean {
  return holds(caller, 'assets.admin');
}

/**
 * Returns an ` or` condition for assets of teams in which the caller holds one of the capabilities. Empty for most
 * callers, so that it costs nothing.
 */
function orInTeamsWith(caller: Caller, ...capabilities: Capability[]): RawBuilder<unknown> {
  const teams = capabilities.flatMap((capability) => teamsWith(caller, capability));
  return teams.length === 0 ? sql`` : sql` or a.team_id = any(${teams}::uuid[])`;
}

/** The caller is a member of the asset's team. */
function ofOwnTeam(callerRef: number): Predicate {
  return sql`exists (select from team_members tm where tm.team_id = a.team_id and tm.user_ref = ${callerRef})`;
}

/** The asset is shared with the caller, until the share expires (ASSET-9). */
function sharedWith(callerRef: number): Predicate {
  return sql`exists (select from asset_shares s where s.asset_id = a.id and s.user_ref = ${callerRef}
    and ${unexpired('s')})`;
}

/**
 * ASSET-3, sensitivity `posts`: the caller reads a live, published post of the asset's owner or team that contains it.
 * `exposure` (migration 0026) answers for posts that every signed-in caller reads, while none of them has expired; only
 * narrower posts are looked up.
 */
function readThroughPost(caller: SignedIn): Predicate {
  return sql`((a.exposure in ('public', 'org-only') and ${lasting('a')})
    or ((a.exposure = 'narrow' or not ${lasting('a')}) and exists (
    select from posts p where p.id in (
        select m.post_id from post_members m where m.asset_id = a.id
        union all
        select t.id from posts t where t.cover_thumbnail_asset_id = a.id)
      and (p.author_user_ref = a.owner_user_ref or p.team_id = a.team_id) and ${listedPosts(caller)})))`;
}

/** A mirrored asset that some share of its peer still covers, although others have expired. */
const stillCovered: Predicate = sql`(exists (
    select from post_members m join posts p on p.id = m.post_id where m.asset_id = a.id and ${publishedPost})
  or exists (select from asset_shares s where s.asset_id = a.id and ${unexpired('s')}))`;

/** The read rule: which rows the caller is given at all (ASSET-1). Failing it is a 404. */
export function readableAssets(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return anonymouslyVisible;
  if (administers(caller)) return sql`(a.deleted_at is null and (${lasting('a')} or ${stillCovered}))`;
  return sql`(a.deleted_at is null and (a.owner_user_ref = ${caller.ref}
    or (a.status = 'active' and ${intact}
      and ((a.sensitivity <> 'posts' and ${lasting('a')}) or ${readThroughPost(caller)} or ${ofOwnTeam(caller.ref)}))
    or ${sharedWith(caller.ref)}${orInTeamsWith(caller, 'assets.admin')}))`;
}

/** The field rule: whose columns are shown; assets that fail it are placeholders (ASSET-4). */
function disclosedFields(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return openToVisitors;
  if (administers(caller) || holds(caller, 'content.read.all')) return sql`true`;
  // The read rule has already decided about `posts`.
  return sql`(a.sensitivity in ('public', 'org', 'posts') or a.owner_user_ref = ${caller.ref}
    or (a.sensitivity = 'team' and ${ofOwnTeam(caller.ref)})
    ${orBelowTeamsWritten(caller)}${orInTeamsWith(caller, 'assets.admin', 'content.read.all')}
    or ${sharedWith(caller.ref)})`;
}

/** Returns an ` or` condition for team assets with a team below theirs in which the caller holds `teams.write` (ASSET-4). */
function orBelowTeamsWritten(caller: Caller): RawBuilder<unknown> {
  const teams = teamsWith(caller, 'teams.write');
  return teams.length === 0
    ? sql``
    : sql` or (a.sensitivity = 'team' and exists (select from team_closure tc
        where tc.ancestor_id = a.team_id and tc.descendant_id = any(${teams}::uuid[])))`;
}

/** Assets that pass the read rule and the field rule. */
export function shownAssets(caller: Caller): Predicate {
  // `is true`: without an owner the comparison is NULL.
  return sql`((${readableAssets(caller)} and ${disclosedFields(caller)}) is true)`;
}

/** The live assets that the caller may be shown, in two disjoint parts for counts of very many. */
export interface CountedParts {
  /** Shown without a look at anything else (migration 0420). */
  plain: Predicate;
  /** May be shown: `shownAssets` decides. */
  rest: Predicate;
}

/** Returns the parts of a caller. Together they contain all of `shownAssets`. */
export function countedParts(caller: Caller): CountedParts {
  if (caller.kind === 'anonymous') {
    return {
      plain: sql`(${liveAsset} and a.shown_to = 2)`,
      rest: sql`(${liveAsset} and a.shown_to < 2 and (a.visible_until is not null or a.interim_hash is not null))`,
    };
  }
  return {
    plain: sql`(${liveAsset} and a.shown_to in (1, 2))`,
    rest: sql`(${liveAsset} and a.shown_to = 0)`,
  };
}

/** FEED-2: returns whether a caller's feed leaves out withheld members; placeholders are off by default. */
export function hidesRestricted(caller: Caller): boolean {
  return caller.kind === 'anonymous' || !caller.showRestricted;
}

/** A range of times, both ends included. */
export interface TimeRange {
  from: RawBuilder<unknown>;
  to: RawBuilder<unknown>;
}

/** Whether every caller of this kind is shown the member `s` (migration 0057). */
function plainlyShown(caller: Caller): Predicate {
  return caller.kind === 'anonymous' ? sql`s.audience = 'public'` : sql`true`;
}

/**
 * FEED-3: leaves out posts `p` that have members but none that is shown, except the caller's own. Most posts have a
 * member that every caller of a kind is shown; only for the others, the rule of each member is evaluated. Part of the statement, so that pages are never short. Scalar subqueries, which end with the first shown
 * member: PostgreSQL plans an `exists` here as a hash over all members, for a page of 24 posts.
 */
export function feedKeeps(caller: Caller): Predicate {
  return keeps(
    caller,
    sql`coalesce((select true from shown_members s where s.post_id = p.id and ${plainlyShown(caller)} limit 1),
      ${hasShownMember(caller)})`,
  );
}

/**
 * Posts of the caller's feed without filters, which collections and searches show, too: listed ones, so no drafts
 * (POST-7), and none of placeholders only, if the caller hides these (FEED-3).
 */
export function feedPosts(caller: Caller): Predicate {
  return hidesRestricted(caller)
    ? sql`(${listedPosts(caller)} and ${feedKeeps(caller)})`
    : listedPosts(caller);
}

/**
 * Equals `feedKeeps` for posts of these times, and is much cheaper for many of them: the members that every caller of
 * the kind is shown are read once for all of them.
 */
export function feedKeepsBetween(caller: Caller, { from, to }: TimeRange): Predicate {
  const among = sql`p.id in (select s.post_id from shown_members s
    where s.posted_at >= ${from} and s.posted_at <= ${to} and ${plainlyShown(caller)})`;
  return keeps(caller, sql`(${among} or ${hasShownMember(caller)})`);
}

function keeps(caller: Caller, shown: Predicate): Predicate {
  return caller.kind === 'anonymous' ? shown : sql`(p.author_user_ref = ${caller.ref} or ${shown})`;
}

function hasShownMember(caller: Caller): Predicate {
  const members = sql`post_members m join assets a on a.id = m.asset_id where m.post_id = p.id`;
  return sql`coalesce((select true from ${members} and ${shownAssets(caller)} limit 1),
    (select false from ${members} limit 1), true)`;
}

/** With `include_deleted`: system.admin sees assets in the trash unrestricted. */
export function shownAssetsAndTrash(caller: Caller): Predicate {
  return holds(caller, 'system.admin') ? sql`true` : shownAssets(caller);
}

/**
 * The content rule: whose bytes are served. Mature assets need the opt-in besides the field rule (ASSET-6, ASSET-7).
 */
export function servedAssets(caller: Caller): Predicate {
  if (caller.kind === 'user' && (administers(caller) || caller.seesMature)) return shownAssets(caller);
  if (caller.kind === 'anonymous') return sql`(${shownAssets(caller)} and not a.mature)`;
  return sql`(${shownAssets(caller)}
    and (not a.mature or a.owner_user_ref = ${caller.ref}${orInTeamsWith(caller, 'assets.admin')}) is true)`;
}

/** The content rule for an asset whose columns were read: equals `servedAssets` for rows that are not in the trash. */
export function servesAsset(
  caller: Caller,
  { mature, ownerRef, teamId }: { mature: boolean; ownerRef: number | null; teamId: string | null },
): boolean {
  if (!mature) return true;
  if (caller.kind === 'anonymous') return false;
  if (administers(caller) || caller.seesMature || caller.ref === ownerRef) return true;
  return teamId !== null && teamsWith(caller, 'assets.admin').includes(teamId);
}

/** Assets whose posts the caller may list: the owner's, and any for `assets.admin` (POST-40). */
export function mayReadUsage(caller: Caller): Predicate {
  return editableAssets(caller);
}

/** With `include_deleted`, for system.admin only: readable assets and the trash (ASSET-23). */
export function readableAssetsAndTrash(caller: Caller): Predicate {
  return holds(caller, 'system.admin') ? sql`true` : readableAssets(caller);
}

/** Live assets the caller may change, delete or render again: the owner's, and any for `assets.admin` (ASSET-13). */
export function editableAssets(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  // Mirrored content is changed only at its origin.
  if (administers(caller)) return sql`(a.deleted_at is null and a.origin_peer_id is null)`;
  return sql`(a.deleted_at is null and (a.owner_user_ref = ${caller.ref}${orInTeamsWith(caller, 'assets.admin')}))`;
}

/**
 * Assets whose versions the caller may see, add, restore and delete: those they may edit. For everyone else, an asset
 * has only its present file (VERSION-3).
 */
export function versionedAssets(caller: Caller): Predicate {
  return editableAssets(caller);
}

/**
 * Assets whose editor decides on the renditions of their bytes: editable ones that are the oldest live asset of these
 * bytes. Uploading a copy of a public file gives no say in it.
 */
export function mayRerender(caller: Caller): Predicate {
  return sql`(${editableAssets(caller)} and not exists (select from assets before
    where before.file_hash = a.file_hash and before.deleted_at is null
      and (before.created_at, before.id) < (a.created_at, a.id)))`;
}

/**
 * Whether an asset `k` has the owner, team and audience of an asset `a`, or is public: who may see `a` by a share or link
 * may then see `k` by it, which the same people could grant (DUPLICATE-6).
 */
export const heldAlike: Predicate = sql`((a.owner_user_ref = k.owner_user_ref
  and a.team_id is not distinct from k.team_id and (k.sensitivity = a.sensitivity or k.sensitivity = 'public')) is true)`;

/** ASSET-12: only the owner and administrators see `sensitivity`. */
export function maySeeSensitivity(
  caller: Caller,
  { ownerRef, teamId }: { ownerRef: number | null; teamId: string | null },
): boolean {
  if (caller.kind === 'anonymous') return false;
  const inTeam = teamId !== null && teamsWith(caller, 'assets.admin').includes(teamId);
  return administers(caller) || caller.ref === ownerRef || inTeam;
}

/** Teams that the caller may give a new asset to: their own unless as a viewer, or any for `teams.write`. Alias `t`. */
export function assignableTeams(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (holds(caller, 'teams.write')) return sql`(t.deleted_at is null and t.origin_server_id is null)`;
  const teams = teamsWith(caller, 'teams.write');
  const written = teams.length === 0 ? sql`` : sql` or t.id = any(${teams}::uuid[])`;
  return sql`(t.deleted_at is null and t.origin_server_id is null and (exists (
    select from team_members tm where tm.team_id = t.id and tm.user_ref = ${caller.ref} and tm.role <> 'viewer')${written}))`;
}

/** Assets that an account may use as its avatar: its own, if public. */
export function avatarCandidates(ownerRef: number): Predicate {
  return sql`(a.deleted_at is null and a.owner_user_ref = ${ownerRef} and a.status = 'active'
    and a.sensitivity = 'public' and not a.mature and exists (select from files f where f.hash = a.file_hash
      and (f.renditions ? 'col' or (a.processing_status = 'pending' and f.mime like 'image/%'))))`;
}

/** Pictures that the caller may choose as the banner of a profile: rendered ones whose bytes they may get (USER-21). */
export function bannerCandidates(caller: Caller): Predicate {
  return sql`(${servedAssets(caller)} and exists (select from files f where f.hash = ${renderedHash}
    and f.mime like 'image/%' and (f.renditions ? 'screen' or a.processing_status = 'pending')))`;
}

/** The banner of `users u` if the caller may get its bytes, otherwise null (USER-21). */
export function shownBanner(caller: Caller): RawBuilder<string | null> {
  return sql`(select a.id from assets a where a.id = u.banner_asset_id and ${servedAssets(caller)})`;
}

/**
 * Assets visible to more people than any post that contains them. Excludes avatars and pictures of teams, which must be
 * public, and banners, which others see under this rule. Uses the index `assets_exposed`.
 */
export const exposedAssets: Predicate = sql`(a.deleted_at is null
  and ((a.sensitivity = 'public' and a.exposure <> 'public')
    or (a.sensitivity = 'org' and a.exposure in ('none', 'narrow')))
  and not exists (select from users u where u.avatar_asset_id = a.id)
  and not exists (select from users u where u.banner_asset_id = a.id)
  and not exists (select from teams t where t.hero_asset_id = a.id))`;

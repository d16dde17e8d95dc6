import type { DownloadPreset } from '@vitrine/contract/downloads';
import type { TargetKind } from '@vitrine/contract/links';
import { type RawBuilder, sql } from 'kysely';
import { hasApprovals } from './approvals.ts';
import { anonymouslyVisible, editableAssets, intact, shownAssets } from './assets.ts';
import type { Caller, SignedIn } from './caller.ts';
import { editableCollections, filledByHand, readableCollections } from './collections.ts';
import { checkScope } from './door.ts';
import { live, unexpired } from './live.ts';
import { editablePosts, publishedPost, readablePosts, thePost } from './posts.ts';
import { openForVisitors } from './visibilities.ts';

/**
 * What a share link shows, and who manages it (LINK-1). Predicates refer to `posts p`, `assets a`, `collections c` and
 * `share_links l`.
 */
type Predicate = RawBuilder<boolean>;

/** A visitor's name at one link, kept by the cookie of their browser (GUEST-1). */
export interface Guest {
  readonly id: string;
  readonly name: string;
  readonly muted: boolean;
}

/**
 * A visitor with a valid link that is unlocked if it has a password. Not a `Caller`: no other rule or operation applies
 * to it, and being signed in adds nothing.
 */
export interface LinkVisitor {
  readonly kind: 'link';
  readonly linkId: string;
  readonly target: { readonly kind: TargetKind; readonly id: string };
  /** What the query of a smart collection matches for visitors, as a condition on `assets a`; null for others. */
  readonly filling: RawBuilder<boolean> | null;
  readonly allowDownload: boolean;
  /** The watermark text for every picture; null sends pictures unchanged. */
  readonly watermark: string | null;
  /** The version of its asset that it shows; null for the current one (VERSION-9). */
  readonly version: number | null;
  /** The presets in which files are downloaded instead of the originals; null for originals (LINK-23). */
  readonly presets: readonly DownloadPreset[] | null;
  readonly allowFeedback: boolean;
  readonly allowPicks: boolean;
  /** The most files that a guest picks; null for any number. */
  readonly maxPicks: number | null;
  /** Null before they have given a name (GUEST-1). */
  readonly guest: Guest | null;
}

/** A link that is neither revoked nor expired. */
export const liveLink: Predicate = sql`(l.revoked_at is null and ${unexpired('l')})`;

/**
 * The version `v` of an asset `a` that the visitor is shown, in a lateral join with the columns `number`, `file_hash`
 * and `file_name`.
 */
export function linkedVersion({ version }: LinkVisitor): RawBuilder<unknown> {
  return version === null
    ? sql`lateral (select null::integer as number, a.file_hash, a.file_name) v`
    : sql`lateral (select r.number, r.file_hash, r.file_name from asset_versions r
        where r.asset_id = a.id and r.number = ${version}) v`;
}

/**
 * Whether the subtitles of an asset `a` belong to the version `v` that the visitor is shown. Subtitles of the current
 * version may contain words that an earlier version does not.
 */
export const subtitlesOfVersion: Predicate = sql`(v.file_hash = a.file_hash)`;

/** Whether originals are served. A watermark and presets would be pointless beside them. */
export function mayDownloadOriginals(visitor: LinkVisitor): boolean {
  return mayDownloadUnmarked(visitor) && visitor.presets === null;
}

function mayDownloadUnmarked({ allowDownload, watermark }: LinkVisitor): boolean {
  return allowDownload && watermark === null;
}

/**
 * Returns the preset in which the visitor downloads files; null for the originals, undefined for one that the link does
 * not offer (LINK-23). The forms have no watermark, so they need what originals need.
 */
export function downloadedForm(
  visitor: LinkVisitor,
  key: string | undefined,
): DownloadPreset | null | undefined {
  if (key === undefined) return null;
  return visitor.presets?.find((preset) => preset.key === key);
}

/** Whether files are served in this form. */
export function mayDownloadAs(visitor: LinkVisitor, form: DownloadPreset | null): boolean {
  return form === null ? mayDownloadOriginals(visitor) : mayDownloadUnmarked(visitor);
}

/**
 * Whether files without room for a watermark are served: streams, audio, texts, pages, subtitles. A watermark is drawn
 * into pictures of the ladder only, and a link with one serves nothing else.
 */
export function maySeeUnmarked({ watermark }: LinkVisitor): boolean {
  return watermark === null;
}

/** Whether tiles are served: together they are the full-size original, so its rule applies. */
export function maySeeTiles(visitor: LinkVisitor): boolean {
  return mayDownloadOriginals(visitor);
}

/** Whether anything is offered as a download. */
export function mayDownload({ allowDownload }: LinkVisitor): boolean {
  return allowDownload;
}

/**
 * Whether a link to this target works with the current rights of its `creator`: the target is live and they may still
 * edit it, and it has the `version` that the link shows. Refers to the target's row by its alias.
 */
export function liveTarget(kind: TargetKind, creator: SignedIn, version: number | null): Predicate {
  if (kind === 'post') return sql`(${publishedPost} and ${editablePosts(creator)})`;
  if (kind === 'asset')
    return sql`(not a.mature and ${intact} and ${editableAssets(creator)} and ${hasVersion(version)})`;
  return sql`(${unexpired('c')} and ${editableCollections(creator)})`;
}

/** The asset still has the version that a link shows. */
function hasVersion(version: number | null): Predicate {
  if (version === null) return sql`true`;
  return sql`exists (select from asset_versions v where v.asset_id = a.id and v.number = ${version})`;
}

/** Posts of a collection `c` that are shared with it: published, and either by its owner or public. */
export const postsOfCollection: Predicate = sql`(${publishedPost}
  and (${openForVisitors(thePost)} or p.author_user_ref = c.owner_user_ref))`;

/** The same, as far as they have the approvals that links need: others are left out (APPROVAL-4). */
const linkedOfCollection: Predicate = sql`(${postsOfCollection} and ${hasApprovals('links')})`;

/** Posts that a link to this target shows. */
export function linkedPosts({ kind, id }: LinkVisitor['target']): Predicate {
  if (kind === 'asset') return sql`false`;
  if (kind === 'post') return sql`(p.id = ${id} and ${publishedPost})`;
  return sql`exists (select from collection_posts lp join collections c on c.id = lp.collection_id
    where lp.collection_id = ${id} and lp.post_id = p.id and ${filledByHand} and ${linkedOfCollection})`;
}

/**
 * Files `a` of a collection `c` that its links show: those that everyone sees, and its owner's own with sensitivity
 * `posts`, as with posts (LINK-22). No mature ones.
 */
export const filesOfCollection: Predicate = sql`((not a.mature and (${anonymouslyVisible}
  or (${live('a')} and a.status = 'active' and ${intact} and a.owner_user_ref = c.owner_user_ref
    and a.sensitivity in ('posts', 'public')))) is true)`;

/** Files that a link to a collection `c` shows besides those of its posts. */
export function linkedFiles({ target: { id }, filling }: LinkVisitor): Predicate {
  if (filling !== null)
    return sql`(${filling} and exists (select from collections c where c.id = ${id} and ${filesOfCollection}))`;
  return sql`exists (select from collection_assets lf join collections c on c.id = lf.collection_id
    where lf.collection_id = ${id} and lf.asset_id = a.id and ${filledByHand} and ${filesOfCollection})`;
}

/**
 * Members `a` of a post `p` that a link to it shows: those of its author or team with sensitivity `posts` or public.
 * Mature ones and those with a narrower sensitivity (`org`, `team`, `restricted`) are left out.
 */
export const passedOn: Predicate = sql`((a.deleted_at is null and a.status = 'active'
  and ${intact} and a.sensitivity in ('posts', 'public') and not a.mature
  and (a.owner_user_ref = p.author_user_ref or a.team_id = p.team_id)) is true)`;

/** Assets whose columns and bytes the visitor gets. A link to an asset shows it regardless of sensitivity. */
export function linkedAssets(visitor: LinkVisitor): Predicate {
  const { target } = visitor;
  if (target.kind === 'asset')
    return sql`(a.id = ${target.id} and ${live('a')} and ${intact} and not a.mature)`;
  const inPosts = sql<boolean>`exists (select from post_members m join posts p on p.id = m.post_id
    where m.asset_id = a.id and ${linkedPosts(target)} and ${passedOn})`;
  return target.kind === 'post' ? inPosts : sql`(${inPosts} or ${linkedFiles(visitor)})`;
}

/** The title of the target of a link, or null if it is in the trash or the caller may not read it. */
export function titleOfTarget(caller: Caller): RawBuilder<string | null> {
  return sql`case when l.post_id is not null
      then (select p.title from posts p where p.id = l.post_id and ${readablePosts(caller)})
    when l.asset_id is not null then (select a.title from assets a where a.id = l.asset_id and ${shownAssets(caller)})
    else (select c.name from collections c where c.id = l.collection_id and ${readableCollections(caller)}) end`;
}

/** Links the caller may change and revoke: those to targets they may edit. */
export function manageableLinks(caller: Caller): Predicate {
  return sql`(exists (select from posts p where p.id = l.post_id and ${editablePosts(caller)})
    or exists (select from assets a where a.id = l.asset_id and ${editableAssets(caller)})
    or exists (select from collections c where c.id = l.collection_id and ${editableCollections(caller)}))`;
}

/** Throws 403 for a token without the scope for links to this kind of target. */
export function checkLinkScope(caller: SignedIn, kind: TargetKind): void {
  checkScope(caller, kind === 'asset' ? 'assets.write' : 'posts.write');
}

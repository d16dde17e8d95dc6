import type { TargetKind } from '@vitrine/contract/links';
import { type RawBuilder, sql } from 'kysely';
import { editableAssets } from './assets.ts';
import type { Caller, SignedIn } from './caller.ts';
import { editableCollections } from './collections.ts';
import { checkScope } from './door.ts';
import { live } from './live.ts';
import { editablePosts, standingPost } from './posts.ts';

/**
 * What a share link shows, and who manages it (LINK-1). Predicates speak of rows of `posts` under the alias
 * `p`, `assets` under `a`, `collections` under `c` and `share_links` under `l`.
 */
type Predicate = RawBuilder<boolean>;

/**
 * Somebody who came with a link that lives and, if it has a password, is unlocked. It is no `Caller`: no other rule and
 * no other operation knows it, and being signed in besides adds nothing.
 */
export interface LinkVisitor {
  readonly kind: 'link';
  readonly linkId: string;
  readonly target: { readonly kind: TargetKind; readonly id: string };
  readonly allowDownload: boolean;
  /** The text that is drawn into every picture; without one, pictures are sent as they are. */
  readonly watermark: string | null;
}

/** Whether originals are given. A watermark would be pointless beside them. */
export function mayDownloadOriginals({ allowDownload, watermark }: LinkVisitor): boolean {
  return allowDownload && watermark === null;
}

/**
 * Whether bytes are sent that no watermark can be drawn into: streams, sound, texts, pages, subtitles. A watermark is drawn
 * into pictures of the ladder only, and nothing else is sent beside it.
 */
export function maySeeUnmarked({ watermark }: LinkVisitor): boolean {
  return watermark === null;
}

/** Whether tiles are sent: together they are the original at its full size, so they follow its rule. */
export function maySeeTiles(visitor: LinkVisitor): boolean {
  return mayDownloadOriginals(visitor);
}

/** Whether anything is given as a download. */
export function mayDownload({ allowDownload }: LinkVisitor): boolean {
  return allowDownload;
}

/**
 * Whether a link to this target leads anywhere while `creator`, who made it, stands as they do now: the target is live
 * and they may still edit it. Speaks of the target's row under its alias.
 */
export function liveTarget(kind: TargetKind, creator: SignedIn): Predicate {
  if (kind === 'post') return sql`(${standingPost} and ${editablePosts(creator)})`;
  if (kind === 'asset') return sql`(not a.mature and ${editableAssets(creator)})`;
  return sql`((c.expires_at is null or c.expires_at > now()) and ${editableCollections(creator)})`;
}

/** Posts of a collection `c` that its links show: published ones, by its owner or public. */
const postsOfCollection: Predicate = sql`(${standingPost}
  and (p.visibility = 'public' or p.author_user_ref = c.owner_user_ref))`;

/** Posts that a link to this target shows. */
export function linkedPosts({ kind, id }: LinkVisitor['target']): Predicate {
  if (kind === 'asset') return sql`false`;
  if (kind === 'post') return sql`(p.id = ${id} and ${standingPost})`;
  return sql`exists (select from collection_posts lp join collections c on c.id = lp.collection_id
    where lp.collection_id = ${id} and lp.post_id = p.id and ${postsOfCollection})`;
}

/**
 * Members `a` of a post `p` that a link to it passes on: those of its author or of its team that follow their posts or
 * are public. Mature ones and those with an audience of their own (`org`, `team`, `restricted`) are left out.
 */
export const passedOn: Predicate = sql`((a.deleted_at is null and a.status = 'active'
  and a.processing_status in ('ready', 'pending') and a.sensitivity in ('posts', 'public') and not a.mature
  and (a.owner_user_ref = p.author_user_ref or a.team_id = p.team_id)) is true)`;

/** Assets whose columns and bytes the visitor is given. A link to an asset shows it whatever its sensitivity. */
export function linkedAssets({ target }: LinkVisitor): Predicate {
  if (target.kind === 'asset') return sql`(a.id = ${target.id} and ${live('a')} and not a.mature)`;
  return sql`exists (select from post_members m join posts p on p.id = m.post_id
    where m.asset_id = a.id and ${linkedPosts(target)} and ${passedOn})`;
}

/** Links the caller may change and revoke: those to what they may edit. */
export function manageableLinks(caller: Caller): Predicate {
  return sql`(exists (select from posts p where p.id = l.post_id and ${editablePosts(caller)})
    or exists (select from assets a where a.id = l.asset_id and ${editableAssets(caller)})
    or exists (select from collections c where c.id = l.collection_id and ${editableCollections(caller)}))`;
}

/** Throws 403 for a token whose scope does not reach links to this kind of target. */
export function checkLinkScope(caller: SignedIn, kind: TargetKind): void {
  checkScope(caller, kind === 'asset' ? 'assets.write' : 'posts.write');
}

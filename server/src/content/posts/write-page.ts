import type { Post } from '@vitrine/contract/posts';
import { type RawBuilder, sql } from 'kysely';
import { plainComment } from '../../access/annotations.ts';
import { liveAsset, shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { ownerName } from '../../access/identities.ts';
import { showablePosts } from '../../access/posts.ts';
import type { Deps } from '../../core/deps.ts';
import type { KeptAsset, KeptPost, Texts } from '../../core/kept-texts.ts';
import type { Database } from '../../platform/database/pool.ts';
import { JsonText } from '../../platform/http/answer.ts';
import {
  assetJoins,
  type FullRow,
  fullColumns,
  keptText,
  type VersionRow,
  versionColumn,
  writtenText,
} from '../assets/show.ts';
import { cardColumn } from '../fields/values/show.ts';
import {
  anyOf,
  COMMENTS_SHOWN,
  type CountedMember,
  callersPost,
  commonPost,
  coverProvenance,
  type DecisivePost,
  likedBy,
  liveThumbnail,
  type PostRow,
  placeholder,
  postColumns,
  scheduledFor,
} from './show.ts';

/** What posts are written with: the database, and the caches of texts (`noTexts` in a transaction). */
export interface Writing extends Pick<Deps, 'db' | 'ladder'> {
  texts: Texts<KeptAsset>;
  postTexts: Texts<KeptPost>;
}

/** What a response shows: posts `p`, and members `a` with their columns. */
export interface Sight {
  posts: RawBuilder<boolean>;
  members: RawBuilder<boolean>;
}

/** What every response shows that has no rule of its own. */
function usualSight(caller: Caller): Sight {
  return { posts: showablePosts(caller), members: shownAssets(caller) };
}

/**
 * The version of everything that commonPost shows of a post `p` of the author `users u`; null for mirrored posts (see
 * assets/show.ts).
 */
const postVersion: RawBuilder<string | null> = sql`case when p.origin_peer_id is null then
  concat_ws('.', p.xmin, coalesce(u.xmin::text, '-'), case when p.comment_count > 0 then (
    select bit_xor(hash_record_extended((c.id, c.row_version, cu.xmin::text), 0)) from (
      select c.id, c.author_user_ref, c.xmin::text as row_version from comments c
      where c.post_id = p.id and c.parent_id is null and ${plainComment}
      order by c.created_at desc, c.id desc limit ${sql.lit(COMMENTS_SHOWN)}
    ) c left join users cu on cu.ref = c.author_user_ref) end) end`;

interface PostVersion extends DecisivePost {
  id: string;
  version: string | null;
}

/** An asset with its version, and whether the caller is shown it. */
interface AssetVersion extends VersionRow {
  shown: boolean;
}

interface MemberVersion extends AssetVersion, CountedMember {
  post_id: string;
  sort_order: number;
  owner_name: string | null;
}

async function readPostVersions(
  db: Database,
  caller: Caller,
  ids: readonly string[],
  sight: Sight,
): Promise<PostVersion[]> {
  const { rows } = await sql<PostVersion>`
    select p.id, ${postVersion} as version, p.cover_asset_id, ${liveThumbnail} as cover_thumbnail_asset_id, p.cover_focal_x,
      p.cover_focal_y, p.cover_focal_asset_id, ${coverProvenance} as cover_provenance, ${likedBy(caller)} as liked,
      ${scheduledFor(caller)} as publish_at
    from posts p left join users u on u.ref = p.author_user_ref
    where p.id = ${anyOf(ids)} and ${sight.posts}`.execute(db);
  return rows;
}

/** Returns the live members of these posts in order, each with what decides about it and its version. */
async function readMemberVersions(
  db: Database,
  caller: Caller,
  ids: readonly string[],
  sight: Sight,
): Promise<MemberVersion[]> {
  const { rows } = await sql<MemberVersion>`
    select m.post_id, m.sort_order, a.id as asset_id, ${sight.members} as shown, ${ownerName(caller, 'o')} as owner_name,
      a.ai_provenance as asset_ai_provenance, ${cardColumn(caller)} as card_fields, ${versionColumn}
    from post_members m join assets a on a.id = m.asset_id ${assetJoins}
    where m.post_id = ${anyOf(ids)} and ${liveAsset}
    order by m.post_id, m.sort_order, m.asset_id`.execute(db);
  return rows;
}

/** Returns the common parts of these posts by id: cached ones of the current version, the others from one statement. */
async function textsOfPosts(
  { db, postTexts }: Writing,
  caller: Caller,
  posts: readonly PostVersion[],
  sight: Sight,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const missing: string[] = [];
  for (const { id, version } of posts) {
    const kept = version === null ? undefined : postTexts.get(`${caller.kind} ${id}`);
    if (kept !== undefined && kept.version === version) found.set(id, kept.text);
    else missing.push(id);
  }
  if (missing.length === 0) return found;
  const { rows } = await sql<PostRow & { version: string | null }>`
    select ${postColumns(caller)}, ${postVersion} as version from posts p left join users u on u.ref = p.author_user_ref
    where p.id = ${anyOf(missing)} and ${sight.posts}`.execute(db);
  for (const row of rows) {
    const text = JSON.stringify(commonPost(row)).slice(0, -1);
    if (row.version !== null) postTexts.set(`${caller.kind} ${row.id}`, { version: row.version, text });
    found.set(row.id, text);
  }
  return found;
}

/** Returns these assets as JSON, by id: null for withheld ones, nothing for ones deleted meanwhile. */
async function textsOfAssets(
  { db, texts, ladder }: Omit<Writing, 'postTexts'>,
  caller: Caller,
  assets: readonly AssetVersion[],
  shown: RawBuilder<boolean>,
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  const missing: string[] = [];
  for (const asset of assets) {
    const text = asset.shown ? keptText(texts, caller, ladder, asset) : null;
    if (asset.shown && text === null) missing.push(asset.asset_id);
    else found.set(asset.asset_id, text);
  }
  if (missing.length === 0) return found;
  const { rows } = await sql<FullRow>`select ${fullColumns(caller, ladder, shown)} from assets a ${assetJoins}
    where a.id = ${anyOf(missing)} and ${liveAsset}`.execute(db);
  for (const row of rows) found.set(row.asset_id, row.shown ? writtenText(texts, caller, ladder, row) : null);
  return found;
}

function writeMember(member: MemberVersion, asset: string | null): string {
  if (asset === null) return JSON.stringify(placeholder(member));
  const { asset_id, sort_order } = member;
  return `{"asset_id":"${asset_id}","sort_order":${sort_order},"restricted":false,"asset":${asset}}`;
}

/**
 * Returns the posts with these ids as the caller sees them, each as JSON by its id, and serialises only what has changed
 * (FEED-14). Leaves out posts that the caller may not read (any more) and, without `keepRestricted`, withheld members
 * (POST-22). Takes two statements, and one more each for posts and assets that are not cached.
 */
export async function writtenPosts(
  deps: Writing,
  caller: Caller,
  ids: readonly string[],
  keepRestricted: boolean,
  sight: Sight = usualSight(caller),
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const [posts, members] = await Promise.all([
    readPostVersions(deps.db, caller, ids, sight),
    readMemberVersions(deps.db, caller, ids, sight),
  ]);
  const [texts, assets] = await Promise.all([
    textsOfPosts(deps, caller, posts, sight),
    textsOfAssets(deps, caller, members, sight.members),
  ]);
  const membersOf = Map.groupBy(members, ({ post_id }) => post_id);
  const written = new Map<string, string>();
  for (const post of posts) {
    const text = texts.get(post.id);
    // The post was deleted or withdrawn between the two statements.
    if (text === undefined) continue;
    const own = membersOf.get(post.id) ?? [];
    const given = own.filter(({ asset_id }) => {
      const asset = assets.get(asset_id);
      return asset !== undefined && (keepRestricted || asset !== null);
    });
    const rest = JSON.stringify(callersPost(post, given, own)).slice(1, -1);
    const shown = given.map((member) => writeMember(member, assets.get(member.asset_id) ?? null));
    written.set(post.id, `${text},${rest},"members":[${shown.join(',')}]}`);
  }
  return written;
}

/** Returns what writtenPosts returns, in this order. */
export async function writePosts(
  deps: Writing,
  caller: Caller,
  ids: readonly string[],
  keepRestricted: boolean,
): Promise<string[]> {
  const written = await writtenPosts(deps, caller, ids, keepRestricted);
  return ids.flatMap((id) => written.get(id) ?? []);
}

/** Returns posts as the body of an operation that lists all of them. */
export function writtenList(posts: readonly string[]): JsonText<Post[]> {
  return new JsonText(`[${posts.join(',')}]`);
}

/** Returns posts as a page. */
export function writtenPage(
  posts: readonly string[],
  nextCursor: string | null,
): JsonText<{ items: Post[]; next_cursor: string | null }> {
  return new JsonText(`{"items":[${posts.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}}`);
}

/**
 * Returns the assets with these ids that the caller is shown, each as JSON by its id. Takes one statement, and one more
 * for assets that are not cached.
 */
export async function writtenAssets(
  deps: Omit<Writing, 'postTexts'>,
  caller: Caller,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const shown = shownAssets(caller);
  const { rows } = await sql<AssetVersion>`
    select a.id as asset_id, ${shown} as shown, ${cardColumn(caller)} as card_fields, ${versionColumn}
    from assets a ${assetJoins} where a.id = ${anyOf(ids)} and ${liveAsset}`.execute(deps.db);
  const texts = await textsOfAssets(deps, caller, rows, shown);
  return new Map([...texts].flatMap(([id, text]) => (text === null ? [] : [[id, text] as const])));
}

import type { Visibility } from '@vitrine/contract/visibilities';
import {
  assetAdministrators,
  assetKeys,
  assetSharees,
  type CallerKind,
  collectionAdministrators,
  collectionKeys,
  commentAuthor,
  givenToAnonymous,
  givenToSignedIn,
  keepPlaceholders,
  memberKeys,
  membersOf,
  optedIn,
  placeholderKeys,
  postAdministrators,
  postKeys,
  type processings,
  readers,
  type sensitivities,
  shownEverything,
  shownTeamAssets,
  type statuses,
  type TeamName,
  undoAnyDelete,
  withheldKeys,
} from './matrix.ts';
import { sortedKeys } from './responses.ts';

/** The expected outcome of one cell, computed from the table without the server. */

/** Owners and authors: `hidden` hides from anonymous visitors, `gone` was deleted permanently (IDENTITY-3, IDENTITY-4). */
export type Person = 'author' | 'owner' | 'hidden' | 'gone' | 'nobody';

export interface AssetCell {
  id: string;
  status: (typeof statuses)[number];
  processing: (typeof processings)[number];
  sensitivity: (typeof sensitivities)[number];
  mature: boolean;
  deleted: boolean;
  team: TeamName;
  owner: Person;
  /** What was rendered: everything including the scrub strip, only `col`, or nothing. */
  rendered: 'all' | 'col' | 'nothing';
  deletedBy: CallerKind | null;
  /** The asset that it is related to (RELATED-1), and stacked with, the one with the smaller id on top (STACK-2). */
  related?: AssetCell;
  /** Posts with this asset as a member or as their standalone thumbnail. */
  usedBy: PostCell[];
  /** Shared by name with the sharees of the table: valid, or expired yesterday. */
  share: 'live' | 'expired' | null;
}

export interface PostCell {
  id: string;
  visibility: Visibility;
  draft: boolean;
  deleted: boolean;
  team: TeamName;
  author: Person;
  /** In their order. */
  members: readonly AssetCell[];
  cover: AssetCell | null;
  /** Its standalone thumbnail, which is not a member. */
  thumbnail: AssetCell | null;
  hasFocal: boolean;
  tag: string;
  /** Not shared; all other posts are shared with `sharee`. */
  unshared?: true;
  deletedBy: CallerKind | null;
  /** Its comments, if any. */
  thread: Thread | null;
}

export interface CollectionCell {
  id: string;
  visibility: Visibility;
  deleted: boolean;
  expired: boolean;
  owner: Person;
  /** In their order. */
  posts: readonly PostCell[];
  /** Files placed in it, one before each of the first posts. */
  files: readonly AssetCell[];
  /** The chosen cover. */
  cover: PostCell | null;
  unshared?: true;
  deletedBy: CallerKind | null;
}

export interface Thread {
  /** Live roots, newest first. */
  roots: readonly string[];
  /** The comment of `commenter`. */
  byCommenter: string;
  reply: string;
  deletedRoot: string;
  /** The whiteboard of `commenter`. */
  board: string;
  /** Roots and replies that are not deleted. */
  count: number;
}

export interface Switches {
  publicMode: boolean;
  matureAllowed: boolean;
}

const among = <T>(list: readonly T[], one: T) => list.includes(one);

// Posts ------------------------------------------------------------------------

export const wrote = (who: CallerKind, post: PostCell) => who === 'author' && post.author === 'author';

/** POST-5: authors and administrators of posts edit posts that are not deleted. */
export function editsPost(who: CallerKind, post: PostCell): boolean {
  return !post.deleted && (wrote(who, post) || among(postAdministrators[post.team], who));
}

export function readsPost(who: CallerKind, post: PostCell): boolean {
  if (editsPost(who, post)) return true;
  return !post.deleted && !post.draft && among(readers[post.visibility], who) && isSharedWith(post);
}

/** A share of another object has no effect. */
const isSharedWith = ({ visibility, unshared }: PostCell | CollectionCell) =>
  visibility !== 'explicit-share' || unshared !== true;

const keeps = (who: CallerKind) => among(keepPlaceholders, who);

/** FEED-2, FEED-3, FEED-4, the three rules of `GET /posts`. */
function staysInFeed(who: CallerKind, post: PostCell): boolean {
  if (keeps(who) || wrote(who, post) || post.members.length === 0) return true;
  return post.members.some((member) => answerOf(who, member) === 'shown');
}

/** POST-7: no drafts, not even for their authors. */
export function isShared(who: CallerKind, post: PostCell): boolean {
  return readsPost(who, post) && !post.draft;
}

export function isInFeed(who: CallerKind, post: PostCell): boolean {
  return isShared(who, post) && staysInFeed(who, post);
}

export function isInDrafts(who: CallerKind, post: PostCell): boolean {
  return editsPost(who, post) && post.draft;
}

/** FEED-10: for system.admin; ignored for all others. */
export function isInFeedWithTrash(who: CallerKind, post: PostCell): boolean {
  const inTrash = undoAnyDelete.includes(who) && post.deleted && staysInFeed(who, post);
  return inTrash || isInFeed(who, post);
}

// Collections ------------------------------------------------------------------

/** COLLECTION-2: the owner and system.admin; capabilities for posts or in a team have no effect. */
export function editsCollection(who: CallerKind, collection: CollectionCell): boolean {
  const owns = who === 'author' && collection.owner === 'author';
  return !collection.deleted && (owns || among(collectionAdministrators, who));
}

export function readsCollection(who: CallerKind, collection: CollectionCell): boolean {
  if (editsCollection(who, collection)) return true;
  const { deleted, expired, visibility, owner } = collection;
  if (deleted || expired) return false;
  // `follower` follows only the author.
  const isFollowed = visibility !== 'followers' || owner === 'author';
  return among(readers[visibility], who) && isFollowed && isSharedWith(collection);
}

/** COLLECTION-10: the thumbnail, otherwise the cover, otherwise the first member, among those visible to the caller. */
function pictureOf(who: CallerKind, { thumbnail, cover, members }: PostCell): AssetCell | null {
  const pictures = [thumbnail, cover, ...members];
  return pictures.find((picture) => picture !== null && answerOf(who, picture) === 'shown') ?? null;
}

type ItemCell =
  | { readonly post: PostCell; readonly file: undefined }
  | { readonly post: undefined; readonly file: AssetCell };

/** COLLECTION-5, COLLECTION-21: the posts and files that a collection shows a caller who opens it, in order. */
export function shownItems(who: CallerKind, { posts, files }: CollectionCell): ItemCell[] {
  return posts.flatMap((post, place): ItemCell[] => {
    const file = files[place];
    return [
      ...(file !== undefined && answerOf(who, file) === 'shown' ? [{ post: undefined, file }] : []),
      ...(isInFeed(who, post) ? [{ post, file: undefined }] : []),
    ];
  });
}

/** What a collection shows a caller who opens it. */
export function dueCollection(who: CallerKind, collection: CollectionCell, switches: Switches): string {
  const { id, visibility, owner, cover } = collection;
  const shown = shownItems(who, collection);
  const chosen = shown.flatMap(({ post }) => (post !== undefined && post.id === cover?.id ? [post] : []));
  const rest = shown.filter(({ post }) => post === undefined || post.id !== cover?.id);
  const pictures = [...chosen.map((post) => ({ post, file: undefined })), ...rest]
    .flatMap(({ post, file }) => file ?? (post === undefined ? [] : (pictureOf(who, post) ?? [])))
    .slice(0, 4);
  return [
    `collection ${id} ${visibility}`,
    isDisclosed(who, owner) ? `owner ${nameOf(who, owner)}` : 'no owner',
    `cover ${chosen[0]?.id ?? null}`,
    `holds ${shown.length}`,
    ...pictures.map(
      (asset) => `${asset.id} ${isServed(who, asset, switches) && asset.rendered !== 'nothing'}`,
    ),
    list(collectionKeys, isDisclosed(who, owner) && 'owner'),
  ].join('; ');
}

// Assets -----------------------------------------------------------------------

/** Whether the caller owns the asset. */
export const owns = (who: CallerKind, asset: AssetCell) =>
  (who === 'owner' || who === 'author') && asset.owner === who;

/** ASSET-13: the owner and administrators of assets. They receive the row in any state. */
export function editsAsset(who: CallerKind, asset: AssetCell): boolean {
  return !asset.deleted && (owns(who, asset) || among(assetAdministrators[asset.team], who));
}

function isGivenTo(
  asset: AssetCell,
  rule: { status: readonly string[]; processing: readonly string[] },
): boolean {
  return !asset.deleted && rule.status.includes(asset.status) && rule.processing.includes(asset.processing);
}

/** ASSET-3: a post passes an asset on if it belongs to the asset's owner or team. */
export const passesOn = (post: PostCell, asset: AssetCell) =>
  post.author === asset.owner || (asset.team !== 'none' && post.team === asset.team);

/** ASSET-3: the caller reads a live, published post that passes the asset on. */
function readsThroughPost(who: CallerKind, asset: AssetCell): boolean {
  return asset.usedBy.some((post) => passesOn(post, asset) && isShared(who, post));
}

/** ASSET-2 `anonymously_visible`: about a visitor, independent of the caller. */
function isGivenToVisitors(asset: AssetCell): boolean {
  const isOpen =
    asset.sensitivity === 'public' || (asset.sensitivity === 'posts' && readsThroughPost('anonymous', asset));
  return isGivenTo(asset, givenToAnonymous) && isOpen;
}

export type AssetAnswer = 'missing' | 'withheld' | 'shown';

/** Read rule, then field rule. */
export function answerOf(who: CallerKind, asset: AssetCell): AssetAnswer {
  if (who === 'anonymous') return isGivenToVisitors(asset) ? 'shown' : 'missing';
  if (editsAsset(who, asset)) return 'shown';
  if (!asset.deleted && asset.share === 'live' && among(assetSharees, who)) return 'shown';
  if (!isGivenTo(asset, givenToSignedIn)) return 'missing';
  if (asset.sensitivity === 'posts')
    return among(membersOf[asset.team], who) || readsThroughPost(who, asset) ? 'shown' : 'missing';
  const shown =
    asset.sensitivity === 'public' ||
    asset.sensitivity === 'org' ||
    among(shownEverything[asset.team], who) ||
    (asset.sensitivity === 'team' && among(shownTeamAssets[asset.team], who));
  return shown ? 'shown' : 'withheld';
}

/** Content rule: a rating is not a clearance. */
export function isServed(who: CallerKind, asset: AssetCell, { matureAllowed }: Switches): boolean {
  if (answerOf(who, asset) !== 'shown') return false;
  return !asset.mature || editsAsset(who, asset) || (matureAllowed && among(optedIn, who));
}

/** POST-40: callers who may edit the asset. */
export function readsUsage(who: CallerKind, asset: AssetCell): boolean {
  return editsAsset(who, asset);
}

// How they look ----------------------------------------------------------------

/** IDENTITY-3, IDENTITY-4: absent for deleted accounts, and for hidden ones if the caller is anonymous. */
export function isDisclosed(who: CallerKind, person: Person): boolean {
  return person !== 'gone' && person !== 'nobody' && !(person === 'hidden' && who === 'anonymous');
}

/** Names from world.ts: a profile name, only a full name, or only a user name. */
const names: Record<Person, { account: string; anonymous: string }> = {
  author: { account: 'The Author', anonymous: 'The Author' },
  owner: { account: 'Olga Owner', anonymous: 'owner' },
  hidden: { account: 'hidden', anonymous: 'hidden' },
  gone: { account: '', anonymous: '' },
  nobody: { account: '', anonymous: '' },
};

function nameOf(who: CallerKind, person: Person): string {
  return names[person][who === 'anonymous' ? 'anonymous' : 'account'];
}

const list = (keys: readonly string[], ...more: (string | false)[]) =>
  sortedKeys([...keys, ...more.filter((key) => key !== false)]);

/** The properties of a visible asset as text. */
export function dueAsset(who: CallerKind, asset: AssetCell, switches: Switches): string {
  const served = isServed(who, asset, switches);
  const keys = list(
    assetKeys,
    isDisclosed(who, asset.owner) && 'owner',
    (editsAsset(who, asset) || asset.deleted) && 'sensitivity',
    asset.team !== 'none' && 'team_id',
    ...(asset.deleted ? ['deleted_at', 'deleted_reason'] : []),
  );
  const available = [
    served && asset.rendered !== 'nothing',
    served && asset.rendered === 'all',
    served && asset.rendered === 'all',
  ];
  return [
    `shown ${asset.id}`,
    `available ${available.join()}`,
    `anonymously ${isGivenToVisitors(asset)}`,
    // MEDIA-11: `all` is a film.
    `blur ${asset.rendered === 'col'}`,
    isDisclosed(who, asset.owner) ? `owner ${nameOf(who, asset.owner)}` : 'no owner',
    keys,
  ].join('; ');
}

const placeholderName = (who: CallerKind, asset: AssetCell) =>
  isDisclosed(who, asset.owner) ? nameOf(who, asset.owner) : null;

/** The properties of a withheld asset as text. */
export function dueWithheld(who: CallerKind, asset: AssetCell): string {
  const name = placeholderName(who, asset);
  return `withheld ${asset.id}; ${name}; ${list(withheldKeys, name !== null && 'owner_display_name')}`;
}

function dueMember(who: CallerKind, asset: AssetCell, order: number, switches: Switches): string {
  if (answerOf(who, asset) === 'shown')
    return `${order} ${dueAsset(who, asset, switches)}; ${list(memberKeys)}`;
  const name = placeholderName(who, asset);
  const keys = list(placeholderKeys, name !== null && 'owner_display_name');
  return `${order} placeholder ${asset.id}; ${name}; ${keys}`;
}

const previewed = 3;

/** A post as a reader sees it. `kept`: whether placeholders are included (POST-22). */
export function duePost(who: CallerKind, post: PostCell, switches: Switches, kept: boolean): string {
  const placed = post.members.map((asset, order) => ({ asset, order }));
  // A deleted member is left out for all callers, and keeps its position (POST-20).
  const live = placed.filter(({ asset }) => !asset.deleted);
  const seen = live.filter(({ asset }) => kept || answerOf(who, asset) === 'shown');
  const seenCover = seen.find(({ asset }) => asset.id === post.cover?.id) ?? seen[0];
  // POST-26: the focal point belongs to the cover, otherwise to the first member, and to no other picture.
  const pictured = post.cover ?? live[0]?.asset;
  const hasFocal = post.hasFocal && pictured !== undefined && seenCover?.asset.id === pictured.id;
  const keys = list(
    postKeys,
    isDisclosed(who, post.author) && 'author',
    post.thread !== null && 'comments_preview',
    post.team !== 'none' && 'team_id',
    ...(post.deleted ? ['deleted_at', 'deleted_reason'] : []),
  );
  return [
    `post ${post.id} ${post.visibility} draft ${post.draft}`,
    isDisclosed(who, post.author) ? `author ${nameOf(who, post.author)}` : 'no author',
    `cover ${seenCover?.asset.id ?? null} focal ${hasFocal}`,
    `comments ${post.thread?.count ?? 0} ${(post.thread?.roots ?? []).slice(0, previewed).join()}`,
    // `commenter` likes every post with a thread.
    `liked ${who === commentAuthor && post.thread !== null}`,
    keys,
    ...seen.map(({ asset, order }) => dueMember(who, asset, order, switches)),
  ].join('\n');
}

/** A post in the caller's feed. */
export function dueInFeed(who: CallerKind, post: PostCell, switches: Switches): string {
  return duePost(who, post, switches, keeps(who));
}

// Doors ------------------------------------------------------------------------

export interface DoorOf {
  door: 'public' | 'signedIn';
  /** The scope that a bearer token needs (TOKEN-4). */
  scope: string;
}

/** ROLE-17: the refusal of the operation, or null for callers who may call it. */
export function refusalAt(
  who: CallerKind,
  scopes: readonly string[] | null,
  { door, scope }: DoorOf,
  { publicMode }: Switches,
): number | null {
  if (who === 'anonymous') return door === 'public' && publicMode ? null : 401;
  if (scopes !== null && !scopes.includes(scope) && !scopes.includes('admin')) return 403;
  return null;
}

/** Describes responses in the same form as due.ts. */

export interface SeenAsset {
  id: string;
  restricted: boolean;
  owner_display_name?: string;
  owner?: { display_name: string };
  preview_available?: boolean;
  ladder_available?: boolean;
  scrub_available?: boolean;
  anonymously_visible?: boolean;
  thumbhash?: string | null;
}

interface SeenMember {
  asset_id: string;
  sort_order: number;
  restricted: boolean;
  owner_display_name?: string;
  asset?: SeenAsset;
}

export interface SeenPost {
  id: string;
  visibility: string;
  draft: boolean;
  liked: boolean;
  author?: { display_name: string };
  cover_asset_id: string | null;
  cover_focal_x: number | null;
  comment_count: number;
  comments_preview?: { id: string }[];
  members: SeenMember[];
}

export interface SeenCollection {
  id: string;
  visibility: string;
  owner?: { display_name: string };
  cover_post_id: string | null;
  item_count: number;
  covers: { asset_id: string; preview_available: boolean }[];
}

export interface SeenPage<T> {
  items: T[];
  next_cursor: string | null;
}

const inOrder = new Map<string, string>();

/** Returns sorted keys as text. Cached, because there are few sets of keys and very many cells. */
export function sortedKeys(keys: readonly string[]): string {
  const given = keys.join(' ');
  const known = inOrder.get(given);
  if (known !== undefined) return known;
  const sorted = [...keys].sort().join(' ');
  inOrder.set(given, sorted);
  return sorted;
}

const keysOf = (thing: object) => sortedKeys(Object.keys(thing));

export function lookOfAsset(asset: SeenAsset): string {
  if (asset.restricted) return `withheld ${asset.id}; ${asset.owner_display_name ?? null}; ${keysOf(asset)}`;
  return [
    `shown ${asset.id}`,
    `available ${[asset.preview_available, asset.ladder_available, asset.scrub_available].join()}`,
    `anonymously ${asset.anonymously_visible}`,
    `blur ${typeof asset.thumbhash === 'string'}`,
    asset.owner === undefined ? 'no owner' : `owner ${asset.owner.display_name}`,
    keysOf(asset),
  ].join('; ');
}

function lookOfMember(member: SeenMember): string {
  const { asset_id, sort_order, restricted, owner_display_name, asset } = member;
  if (restricted || asset === undefined)
    return `${sort_order} placeholder ${asset_id}; ${owner_display_name ?? null}; ${keysOf(member)}`;
  return `${sort_order} ${lookOfAsset(asset)}; ${keysOf(member)}`;
}

export function lookOfPost(post: SeenPost): string {
  return [
    `post ${post.id} ${post.visibility} draft ${post.draft}`,
    post.author === undefined ? 'no author' : `author ${post.author.display_name}`,
    `cover ${post.cover_asset_id} focal ${post.cover_focal_x !== null}`,
    `comments ${post.comment_count} ${(post.comments_preview ?? []).map(({ id }) => id).join()}`,
    `liked ${post.liked}`,
    keysOf(post),
    ...post.members.map(lookOfMember),
  ].join('\n');
}

export function lookOfCollection(collection: SeenCollection): string {
  return [
    `collection ${collection.id} ${collection.visibility}`,
    collection.owner === undefined ? 'no owner' : `owner ${collection.owner.display_name}`,
    `cover ${collection.cover_post_id}`,
    `holds ${collection.item_count}`,
    ...collection.covers.map(({ asset_id, preview_available }) => `${asset_id} ${preview_available}`),
    keysOf(collection),
  ].join('; ');
}

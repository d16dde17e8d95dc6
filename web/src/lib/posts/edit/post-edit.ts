import type { Post, PostUpdate } from '@vitrine/contract/posts';
import type { Visibility } from '@vitrine/contract/visibilities';

/** The centre of the square crop, and the picture it belongs to (POST-26). */
export interface FocalOf {
  readonly asset: string;
  readonly x: number;
  readonly y: number;
}

/** The editable properties of a post, as in the form. */
export interface PostEdit {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly visibility: Visibility;
  /** The id of its team, or empty for none. */
  readonly team: string;
  readonly commentsEnabled: boolean;
  /** Ids of the assets in their order. */
  readonly members: readonly string[];
  /** Null: the first member. */
  readonly cover: string | null;
  readonly focal: FocalOf | null;
  readonly thumbnail: string | null;
}

/** POST-16: a post has 1 to 200 members. */
export const mostMembers = 200;

/** Returns the form of a post. */
export function editOf(post: Post): PostEdit {
  const members = post.members.map((member) => member.asset_id);
  const cover = post.cover_asset_id ?? null;
  const { cover_focal_x: x, cover_focal_y: y } = post;
  return {
    title: post.title,
    description: post.description,
    tags: post.tags,
    visibility: post.visibility,
    team: post.team_id ?? '',
    commentsEnabled: post.comments_enabled,
    members,
    // The service returns the first member if none was chosen, so the two cases look the same.
    cover: cover === null || cover === members[0] || !members.includes(cover) ? null : cover,
    focal: x == null || y == null || cover === null ? null : { asset: cover, x, y },
    thumbnail: post.cover_thumbnail_asset_id ?? null,
  };
}

/** Returns the cover: the chosen member, otherwise the first; null without members. */
export function coverOfEdit(edit: Pick<PostEdit, 'cover' | 'members'>): string | null {
  if (edit.cover !== null && edit.members.includes(edit.cover)) return edit.cover;
  return edit.members[0] ?? null;
}

/** Returns the focal point of the current cover. */
export function focalOfEdit(edit: PostEdit): FocalOf | null {
  return edit.focal !== null && edit.focal.asset === coverOfEdit(edit) ? edit.focal : null;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

function coverPart(before: PostEdit, edit: PostEdit, reordered: boolean): PostUpdate {
  if (edit.cover === before.cover && !(reordered && edit.cover === null)) return {};
  return edit.cover === null ? { clear_cover: true } : { cover_asset_id: edit.cover };
}

function focalPart(before: PostEdit, edit: PostEdit): PostUpdate {
  const [was, is] = [focalOfEdit(before), focalOfEdit(edit)];
  if (is !== null) {
    const same = was !== null && was.asset === is.asset && was.x === is.x && was.y === is.y;
    return same ? {} : { cover_focal_x: is.x, cover_focal_y: is.y };
  }
  // Changing the cover clears the focal point on the server (POST-26).
  return was !== null && coverOfEdit(edit) === was.asset ? { clear_cover_focal: true } : {};
}

function thumbnailPart(before: PostEdit, edit: PostEdit): PostUpdate {
  if (edit.thumbnail === before.thumbnail) return {};
  return edit.thumbnail === null
    ? { clear_cover_thumbnail: true }
    : { cover_thumbnail_asset_id: edit.thumbnail };
}

/** Returns the changes that turn the post into the form. */
export function patchOf(post: Post, edit: PostEdit): PostUpdate {
  const before = editOf(post);
  const reordered = !sameList(edit.members, before.members);
  const [title, description] = [edit.title.trim(), edit.description.trim()];
  return {
    ...(title === before.title.trim() ? {} : { title }),
    ...(description === before.description.trim() ? {} : { description }),
    ...(sameList(edit.tags, before.tags) ? {} : { tags: [...edit.tags] }),
    ...(edit.visibility === before.visibility ? {} : { visibility: edit.visibility }),
    ...(edit.team === before.team ? {} : edit.team === '' ? { clear_team: true } : { team_id: edit.team }),
    ...(edit.commentsEnabled === before.commentsEnabled ? {} : { comments_enabled: edit.commentsEnabled }),
    ...(reordered ? { members: edit.members.map((asset_id, sort_order) => ({ asset_id, sort_order })) } : {}),
    ...coverPart(before, edit, reordered),
    ...focalPart(before, edit),
    ...thumbnailPart(before, edit),
  };
}

export function isEmptyPatch(patch: PostUpdate): boolean {
  return Object.keys(patch).length === 0;
}

/** Returns the form without a member. Removing the cover makes the first member the cover. */
export function withoutMember(edit: PostEdit, id: string): PostEdit {
  return {
    ...edit,
    members: edit.members.filter((member) => member !== id),
    cover: edit.cover === id ? null : edit.cover,
  };
}

const words: readonly (readonly [keyof PostEdit, string])[] = [
  ['title', 'the title'],
  ['description', 'the description'],
  ['tags', 'the tags'],
  ['visibility', 'who may see it'],
  ['team', 'the team'],
  ['members', 'the files'],
  ['cover', 'the cover'],
  ['focal', 'the crop of the cover'],
  ['thumbnail', 'the thumbnail for collections'],
  ['commentsEnabled', 'whether people may comment'],
];

/** Describes the differences between two states of a post; empty if the form shows none. */
export function changedInWords(before: Post, after: Post): string[] {
  const [was, is] = [editOf(before), editOf(after)];
  const changed = words.flatMap(([key, label]) =>
    JSON.stringify(was[key]) === JSON.stringify(is[key]) ? [] : [label],
  );
  if (before.draft !== after.draft) changed.push(after.draft ? 'it is a draft again' : 'it was published');
  return changed;
}

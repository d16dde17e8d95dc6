import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post, PostCreate, PostMember, PostUpdate } from '@vitrine/contract/posts';
import type { Visibility } from '@vitrine/contract/visibilities';
import { phrase } from '#lib/languages/phrase.ts';

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
  /** Members without a picture, such as archives. They become the cover only if no other member can. */
  readonly plain: readonly string[];
  /** Null: the first member with a picture. */
  readonly cover: string | null;
  readonly focal: FocalOf | null;
  readonly thumbnail: string | null;
}

/** POST-16: a post has 1 to 200 members. */
export const mostMembers = 200;

/** Types of assets that have a picture once they are processed: pictures, documents and videos. */
const pictured: readonly number[] = [1, 2, 3];

/** Returns whether a file has no picture to show; while it is being processed, its type decides. */
export function isPlain(
  asset: Pick<ShownAsset, 'asset_type' | 'processing_status' | 'preview_available' | 'ladder_available'>,
): boolean {
  if (asset.processing_status === 'pending') return !pictured.includes(asset.asset_type);
  return !asset.preview_available && !asset.ladder_available;
}

/** Returns the ids of the members that have no picture. */
function plainAmong(members: readonly PostMember[]): string[] {
  return members.flatMap((member) => (!member.restricted && isPlain(member.asset) ? [member.asset_id] : []));
}

/** The form of a post that does not exist yet. */
export const newEdit: PostEdit = {
  title: '',
  description: '',
  tags: [],
  visibility: 'org-only',
  team: '',
  commentsEnabled: true,
  members: [],
  plain: [],
  cover: null,
  focal: null,
  thumbnail: null,
};

/** Returns the form of a post. */
export function editOf(post: Post): PostEdit {
  const members = post.members.map((member) => member.asset_id);
  const plain = plainAmong(post.members);
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
    plain,
    // A cover that the form would choose looks the same as one that was chosen.
    cover:
      cover === null || cover === automaticCover({ members, plain }) || !members.includes(cover)
        ? null
        : cover,
    focal: x == null || y == null || cover === null ? null : { asset: cover, x, y },
    thumbnail: post.cover_thumbnail_asset_id ?? null,
  };
}

/** Returns the cover if none was chosen: the first member with a picture, otherwise the first; null without members. */
function automaticCover({ members, plain }: Pick<PostEdit, 'members' | 'plain'>): string | null {
  return members.find((id) => !plain.includes(id)) ?? members[0] ?? null;
}

/** Returns the cover: the chosen member, otherwise the first with a picture; null without members. */
export function coverOfEdit(edit: Pick<PostEdit, 'cover' | 'members' | 'plain'>): string | null {
  if (edit.cover !== null && edit.members.includes(edit.cover)) return edit.cover;
  return automaticCover(edit);
}

/** Returns the focal point of the current cover. */
export function focalOfEdit(edit: PostEdit): FocalOf | null {
  return edit.focal !== null && edit.focal.asset === coverOfEdit(edit) ? edit.focal : null;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

function coverPart(before: PostEdit, edit: PostEdit, reordered: boolean): PostUpdate {
  if (edit.cover !== null) return edit.cover === before.cover ? {} : { cover_asset_id: edit.cover };
  const cover = automaticCover(edit);
  if (before.cover === null && !reordered && cover === automaticCover(before)) return {};
  // The service shows the first member if there is no other cover.
  return cover === null || cover === edit.members[0] ? { clear_cover: true } : { cover_asset_id: cover };
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

/** Returns the body that creates the post of the form as a draft. */
export function draftOf(edit: PostEdit): PostCreate {
  const focal = focalOfEdit(edit);
  const cover = coverOfEdit(edit);
  return {
    members: edit.members.map((asset_id, sort_order) => ({ asset_id, sort_order })),
    title: edit.title.trim(),
    description: edit.description.trim(),
    visibility: edit.visibility,
    tags: [...edit.tags],
    comments_enabled: edit.commentsEnabled,
    draft: true,
    ...(edit.team === '' ? {} : { team_id: edit.team }),
    ...(cover === null || cover === edit.members[0] ? {} : { cover_asset_id: cover }),
    ...(focal === null ? {} : { cover_focal_x: focal.x, cover_focal_y: focal.y }),
    ...(edit.thumbnail === null ? {} : { cover_thumbnail_asset_id: edit.thumbnail }),
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
  ['title', phrase('the title')],
  ['description', phrase('the description')],
  ['tags', phrase('the tags')],
  ['visibility', phrase('who may see it')],
  ['team', phrase('the team')],
  ['members', phrase('the files')],
  ['cover', phrase('the cover')],
  ['focal', phrase('the crop of the cover')],
  ['thumbnail', phrase('the thumbnail for collections')],
  ['commentsEnabled', phrase('whether people may comment')],
];

/** Describes the differences between two states of a post; empty if the form shows none. */
export function changedInWords(before: Post, after: Post): string[] {
  const [was, is] = [editOf(before), editOf(after)];
  const changed = words.flatMap(([key, label]) =>
    JSON.stringify(was[key]) === JSON.stringify(is[key]) ? [] : [label],
  );
  if (before.draft !== after.draft)
    changed.push(after.draft ? phrase('it is a draft again') : phrase('it was published'));
  return changed;
}

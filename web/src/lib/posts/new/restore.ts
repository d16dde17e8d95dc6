import type { ShownAsset } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import type { Post } from '@vitrine/contract/posts';
import { newEdit, type PostEdit } from '#lib/posts/edit/post-edit.ts';
import type { FormStart } from '#lib/posts/edit/post-form.svelte.ts';
import type { Service } from '#lib/service.ts';
import type { UnfinishedPost } from './unfinished.ts';

/** From what the page of a new post starts. */
export interface NewPostStart extends Pick<FormStart, 'post' | 'edit' | 'assets'> {
  /** What the browser remembers; undefined for a post that begins. */
  readonly kept: UnfinishedPost | undefined;
}

/** How a post begins of which the browser remembers nothing. */
export const fresh: NewPostStart = { kept: undefined };

async function orMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return undefined;
    throw error;
  }
}

/** Returns the assets that the form has and the stored draft does not, as far as they exist. */
async function readMissing(
  { client }: Service,
  edit: PostEdit,
  post: Post | undefined,
): Promise<readonly ShownAsset[]> {
  const stored = new Set(post?.members.map(({ asset_id }) => asset_id));
  const ids = edit.members.filter((id) => !stored.has(id));
  const read = await Promise.all(ids.map((id) => orMissing(client.call('getAsset', { params: { id } }))));
  return read.flatMap((asset) => (asset === undefined || asset.restricted ? [] : [asset]));
}

/**
 * Returns the draft of a form that was left before the service answered the request that created it: the latest one that
 * has a file that was uploaded for the form, and no file of another post. Shares it as the form would have.
 */
async function findCreated(
  { client }: Service,
  authorRef: number,
  { edit, uploaded, people }: UnfinishedPost,
): Promise<Post | undefined> {
  if (!edit.members.some((id) => uploaded.includes(id))) return undefined;
  const { items } = await client.call('listPosts', {
    query: { draft: true, author_ref: authorRef, limit: 10 },
  });
  const post = items.find(({ members }) => {
    const ids = members.map(({ asset_id }) => asset_id);
    return ids.some((id) => uploaded.includes(id)) && ids.every((id) => edit.members.includes(id));
  });
  if (post === undefined) return undefined;
  const { id } = post;
  await Promise.all(people.map(({ ref }) => client.call('putShare', { params: { id, user_ref: ref } })));
  return post;
}

/**
 * Returns the form of an unfinished post as it was left: its draft, and what was not stored in it yet. If the draft was
 * changed elsewhere since, it is shown as it is there; if it was published or deleted, a new post begins.
 */
export async function restored(
  service: Service,
  authorRef: number,
  kept: UnfinishedPost | undefined,
): Promise<NewPostStart> {
  if (kept === undefined) return fresh;
  const { draft, since } = kept;
  const post =
    draft === null
      ? await findCreated(service, authorRef, kept)
      : await orMissing(service.client.call('getPost', { params: { id: draft } }));
  if (draft !== null && !post?.draft) return fresh;
  if (draft !== null && post !== undefined && post.updated_at !== since) return { post, kept };
  const assets = await readMissing(service, kept.edit, post);
  const present = new Set([
    ...(post?.members ?? []).map(({ asset_id }) => asset_id),
    ...assets.map(({ id }) => id),
  ]);
  const edit = { ...newEdit, ...kept.edit, members: kept.edit.members.filter((id) => present.has(id)) };
  return { post, edit, assets, kept };
}

import { takeShared } from '#lib/app/shared.ts';
import { mayPost } from '#lib/identity/allowance.ts';
import { fresh, restored } from '#lib/posts/new/restore.ts';
import { readUnfinished } from '#lib/posts/new/unfinished.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { service, visitorState } = await event.parent();
  const { user } = visitorState;
  const isShared = event.url.searchParams.has('shared') && user !== null && mayPost(user);
  const shared = isShared ? await takeShared() : undefined;
  const start =
    user === null ? fresh : await restored(service, user.ref, readUnfinished(localStorage, user.ref));
  return { title: 'New post', start, shared };
};

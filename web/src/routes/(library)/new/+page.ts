import { takeShared } from '#lib/app/shared.ts';
import { mayPost } from '#lib/identity/allowance.ts';
import { restored } from '#lib/posts/new/restore.ts';
import { readUnfinished } from '#lib/posts/new/unfinished.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { service, visitorState } = await event.parent();
  const { user } = visitorState;
  const kept = user === null ? undefined : readUnfinished(localStorage, user.ref);
  const isShared = event.url.searchParams.has('shared') && user !== null && mayPost(user);
  const shared = isShared ? await takeShared() : undefined;
  return { title: 'New post', start: await restored(service, kept), shared };
};

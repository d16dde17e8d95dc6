import { restored } from '#lib/posts/new/restore.ts';
import { readUnfinished } from '#lib/posts/new/unfinished.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { service, visitorState } = await event.parent();
  const { user } = visitorState;
  const kept = user === null ? undefined : readUnfinished(localStorage, user.ref);
  return { title: 'New post', start: await restored(service, kept) };
};

import { error, redirect } from '@sveltejs/kit';
import { pageSubject, readForPage } from '#lib/page-data.svelte.ts';
import { missingPost, postQuery } from '#lib/posts/queries.ts';
import { missingWhiteboard, whiteboardQuery } from '#lib/whiteboards/queries.ts';
import { boardTitle } from '#lib/whiteboards/words.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  event.depends(pageSubject);
  const { id, board } = event.params;
  const { user } = (await event.parent()).visitorState;
  if (board === 'new') {
    await readForPage(event, (service) => postQuery(service, id), missingPost);
    if (user === null) redirect(307, `/sign-in?next=${encodeURIComponent(event.url.pathname)}`);
    return { title: 'New whiteboard' };
  }
  const shown = await readForPage(event, (service) => whiteboardQuery(service, board), missingWhiteboard);
  if (shown.post_id !== id) {
    const { message, ...words } = missingWhiteboard;
    error(404, message, words);
  }
  return { title: boardTitle(shown) };
};

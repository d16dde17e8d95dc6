import { error } from '@sveltejs/kit';
import { teamCapabilitiesQuery } from '#lib/identity/visitor-state.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import { editedPostQuery, missingPost } from '#lib/posts/queries.ts';
import { dependsOnTeam, mayEdit } from '#lib/posts/rights.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { id } = event.params;
  const { user } = (await event.parent()).visitorState;
  const post = await readForPage(event, (service) => editedPostQuery(service, id), missingPost);
  const held = dependsOnTeam(post, user) ? await readForPage(event, teamCapabilitiesQuery) : undefined;
  if (user === null || !mayEdit(post, user, held)) {
    error(403, '', {
      heading: 'Only its author can change it',
      back: { href: `/posts/${id}`, label: 'To the post' },
    });
  }
  return { title: 'Edit', user };
};

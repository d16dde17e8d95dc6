import { pageSubject, readForPage } from '#lib/page-data.svelte.ts';
import { titleOf } from '#lib/posts/cover.ts';
import { reviewQuery } from '#lib/reviews/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  event.depends(pageSubject);
  const review = await readForPage(event, (service) => reviewQuery(service, event.params.id), {
    heading: 'Review not found',
    message: 'It does not exist, is closed, or is not for you.',
    back: { href: '/reviews', label: 'To your reviews' },
  });
  return { title: `Review of ${titleOf(review.post)}` };
};

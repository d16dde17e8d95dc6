import { readCriteria } from '#lib/search/criteria.ts';
import type { PageLoad } from './$types';

/** The results come later: while the reader narrows a search, the page keeps the previous ones. */
export const load: PageLoad = ({ url }) => {
  const { q } = readCriteria(url.searchParams);
  return { title: q === '' ? 'Search' : `Results for “${q}”` };
};

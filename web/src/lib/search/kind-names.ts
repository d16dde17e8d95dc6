import type { SearchKind } from '@vitrine/contract/search';
import { phrase } from '#lib/languages/phrase.ts';

/** Plural names of the kinds within a sentence. */
export const kindNames: Readonly<Record<SearchKind, string>> = {
  post: phrase('posts'),
  asset: phrase('assets'),
  collection: phrase('collections'),
  user: phrase('people'),
  tag: phrase('tags'),
};

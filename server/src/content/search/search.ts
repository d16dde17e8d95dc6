import type { AnswerOf } from '@vitrine/contract/operation';
import { type SearchKind, type SearchQuery, search as searchOperation } from '@vitrine/contract/search';
import { handle } from '../../core/handle.ts';
import { storedTags } from '../../core/tag-register.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { findFilters } from '../fields/values/filter.ts';
import { type ParsedQuery, parseQuery, readTerms } from '../search-index/parsed-query.ts';
import { hitCursor } from './cursor.ts';
import { readFacets } from './facets.ts';
import { find, type Order } from './find.ts';
import { highlightTermsOf } from './highlight.ts';
import { runSearch } from './plans.ts';
import { writeHits } from './show.ts';

const everyKind: readonly SearchKind[] = ['post', 'asset', 'collection', 'user', 'tag'];

function kindsOf({ kind, filter }: SearchQuery): readonly SearchKind[] {
  if (kind !== undefined) return [kind];
  return filter === undefined || filter.length === 0 ? everyKind : ['asset'];
}

/** Without words, all hits are equally relevant. */
function orderOf({ sort = 'relevance' }: SearchQuery, parsed: ParsedQuery | null): Order {
  return sort === 'relevance' && (parsed === null || parsed.wanted === '') ? 'newest' : sort;
}

/** `GET /search` (SEARCH-1): a fixed number of statements. */
export const search = handle(searchOperation, async (deps, { caller, query }) => {
  const { db } = deps;
  const limit = query.limit ?? DEFAULT_LIMIT;
  const position = hitCursor.read(query.cursor);
  const kinds = kindsOf(query);
  const fields = await findFilters(db, caller, query.filter ?? []);
  const { tag, asset_type, team_id, origin, owner_ref } = query;
  const narrowing = {
    fields,
    ...(tag === undefined ? {} : { tag: await storedTags(db, tag) }),
    ...(asset_type === undefined ? {} : { asset_type }),
    ...(team_id === undefined ? {} : { team_id }),
    ...(origin === undefined ? {} : { origin }),
    ...(owner_ref === undefined ? {} : { owner_ref }),
  };
  const terms = readTerms(query.q ?? '');
  const { page, items } = await runSearch(db, async (tx) => {
    const parsed = await parseQuery(tx, terms);
    const order = orderOf(query, parsed);
    const page = await find(
      tx,
      caller,
      { kinds, parsed, narrowing, order, withFacets: query.facets === true },
      position,
      limit,
    );
    const marks = parsed === null || page.hits.length === 0 ? null : highlightTermsOf(parsed);
    return { page, items: await writeHits({ ...deps, db: tx }, caller, page.hits, marks) };
  });
  const { next, total, capped } = page;
  const rest = {
    next_cursor: next,
    total,
    total_capped: capped,
    // Read outside the transaction, because their plan depends on the number of hits.
    ...(query.facets === true ? { facets: await readFacets(db, caller, page.matched) } : {}),
  };
  const text = `{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}`;
  return { status: 200, body: new JsonText<AnswerOf<typeof searchOperation>>(text) };
});

import { getTag, listTags } from '@vitrine/contract/tags';
import { type RawBuilder, sql } from 'kysely';
import { handle } from '../handle.ts';
import { containsPattern } from '../platform/database/like.ts';
import { readTagCursor, type TagKey, tagCursorAfter } from '../platform/http/cursor.ts';
import { DEFAULT_LIMIT } from '../platform/http/page.ts';
import { notFound } from '../platform/http/refuse.ts';
import { showTag, showTags } from './show.ts';

/** Names with this prefix, as a range of the index; `starts_with` covers names with the last character. */
function beginning(q: string): RawBuilder<boolean> {
  if (q === '') return sql`true`;
  return sql`(t.folded >= lower(${q}) and t.folded <= lower(${q}) || ${'\u{10ffff}'} and starts_with(t.folded, lower(${q})))`;
}

/** Names that contain the text after their beginning. */
function within(q: string): RawBuilder<boolean> {
  const pattern = containsPattern(q);
  return sql`(t.folded like lower(${pattern}) and not starts_with(t.folded, lower(${q})))`;
}

function after(key: TagKey | null): RawBuilder<boolean> {
  return key === null
    ? sql`true`
    : sql`(t.folded, t.name) > (lower(${key.name}) collate "C", ${key.name} collate "C")`;
}

/** Lists tags by name; with `q`, names with that prefix come before names that contain it. At most two statements. */
export const list = handle(listTags, async ({ db }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const q = query.q?.trim() ?? '';
  const key = readTagCursor(query.cursor);
  const isWithin = key?.part === 'within';
  const begun = isWithin ? [] : await showTags(db, caller, sql`${beginning(q)} and ${after(key)}`, limit + 1);
  const wanted = limit + 1 - begun.length;
  const others =
    q === '' || wanted === 0
      ? []
      : await showTags(db, caller, sql`${within(q)} and ${after(isWithin ? key : null)}`, wanted);
  const items = [...begun, ...others].slice(0, limit);
  const last = items.at(-1);
  const isFull = begun.length + others.length > limit && last !== undefined;
  const part = items.length > begun.length || isWithin ? 'within' : 'beginning';
  return { status: 200, body: { items, next_cursor: isFull ? tagCursorAfter(part, last.tag) : null } };
});

export const get = handle(getTag, async ({ db }, { caller, params }) => {
  const tag = await showTag(db, caller, params.tag);
  if (tag === null) throw notFound();
  return { status: 200, body: tag };
});

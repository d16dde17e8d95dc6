import { foldName } from '@vitrine/contract/names';
import { getTag, listTags } from '@vitrine/contract/tags';
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { handle } from '../../core/handle.ts';
import { containsPattern } from '../../platform/database/like.ts';
import { cursorCodec, cursorText } from '../../platform/http/cursor.ts';
import { DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { showTag, showTags } from './show.ts';

/** Keys with this prefix, as a range of the index; `starts_with` covers keys with the last character. */
function beginning(key: string): RawBuilder<boolean> {
  if (key === '') return sql`true`;
  return sql`(t.key >= ${key} and t.key <= ${`${key}\u{10ffff}`} and starts_with(t.key, ${key}))`;
}

/** Keys that contain the text after their beginning. */
function within(key: string): RawBuilder<boolean> {
  return sql`(t.key like ${containsPattern(key)} and not starts_with(t.key, ${key}))`;
}

/** The last tag of a page: in the group that begins with the search text, or in the group that contains it. */
const tagCursor = cursorCodec(
  'tag',
  Type.Object({ part: Type.Enum(['beginning', 'within']), name: cursorText(300) }),
);

function after(key: { name: string } | null): RawBuilder<boolean> {
  return key === null ? sql`true` : sql`t.key > ${foldName(key.name)}`;
}

/** Lists tags by name; with `q`, names with that prefix come before names that contain it. At most two statements. */
export const list = handle(listTags, async ({ db }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const q = foldName(query.q?.trim() ?? '');
  const key = tagCursor.read(query.cursor);
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
  return {
    status: 200,
    body: { items, next_cursor: isFull ? tagCursor.after({ part, name: last.tag }) : null },
  };
});

export const get = handle(getTag, async ({ db }, { caller, params }) => {
  const tag = await showTag(db, caller, params.tag);
  if (tag === null) throw notFound();
  return { status: 200, body: tag };
});

import { getPreferences, Preferences, updatePreferences } from '@vitrine/contract/preferences';
import { handle } from '../../core/handle.ts';
import { storedTags } from '../../core/tag-register.ts';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';

const compiled = compileLater(Preferences);

const unset: Preferences = {
  default_views: { feed: '', layout: '', sort: '' },
  feed_filters: { show_restricted: false },
  browse_rail: { hidden_team_ids: [], team_order: [], hidden_tags: [], tag_order: [] },
  mature_content: { show: false },
  language: '',
  theme: '',
};

/** Returns the stored preferences, completed by defaults. */
export function readPreferences(stored: unknown): Preferences {
  const merged: unknown = { ...unset, ...(typeof stored === 'object' ? stored : {}) };
  return compiled().Check(merged) ? merged : unset;
}

async function stored(db: Database, userRef: number, forUpdate: boolean): Promise<Preferences> {
  const row = await db
    .selectFrom('users')
    .select('preferences')
    .where('ref', '=', userRef)
    .$if(forUpdate, (query) => query.forUpdate())
    .executeTakeFirst();
  if (row === undefined) throw refuse('sign-in-required');
  return readPreferences(row.preferences);
}

export const showPreferences = handle(getPreferences, async ({ db }, { caller }) => ({
  status: 200,
  body: await stored(db, caller.ref, false),
}));

/** NAME-4: the rail names tags as posts spell them. */
async function withStoredTags(
  db: Database,
  rail: Preferences['browse_rail'],
): Promise<Preferences['browse_rail']> {
  const hidden_tags = await storedTags(db, rail.hidden_tags);
  return { ...rail, hidden_tags, tag_order: await storedTags(db, rail.tag_order) };
}

/** PREFERENCE-1: each object that is sent replaces the stored one; absent and null change nothing. */
export const changePreferences = handle(updatePreferences, async ({ db }, { caller, body }) => {
  const changed = await db.transaction().execute(async (tx) => {
    const before = await stored(tx, caller.ref, true);
    const after: Preferences = {
      default_views: body.default_views ?? before.default_views,
      feed_filters: body.feed_filters ?? before.feed_filters,
      browse_rail: body.browse_rail == null ? before.browse_rail : await withStoredTags(tx, body.browse_rail),
      mature_content: body.mature_content ?? before.mature_content,
      language: body.language ?? before.language,
      theme: body.theme ?? before.theme,
    };
    await tx
      .updateTable('users')
      .set({ preferences: JSON.stringify(after) })
      .where('ref', '=', caller.ref)
      .execute();
    return after;
  });
  return { status: 200, body: changed };
});

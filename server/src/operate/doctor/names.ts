import { sql } from 'kysely';
import { type Examination, passed, several, warning } from './check.ts';

/** How long a change is reported. */
const SHOWN_FOR = sql`interval '90 days'`;

/** Names in the finding; the audit log has all. */
const MOST_NAMED = 20;

/** NAME-3, NAME-5, NAME-6, NAME-8: what changed because it had the name of something older. */
const renamedNames: Examination = {
  code: 'renamed_names',
  title: 'Renamed names',
  async look({ db }) {
    // Names of saved views and searches are private.
    const { rows } = await sql<{ change: string | null }>`
      select case
        when event in ('user.renamed', 'tag.merged')
          then format('%s is now %s', metadata ->> 'from', metadata ->> 'to')
        when event = 'field.alias.removed'
          then format('the alias %s of %s was removed', metadata ->> 'alias', metadata ->> 'value')
        end as change
      from audit_events
      where event in ('user.renamed', 'tag.merged', 'field.alias.removed', 'feed_view.renamed', 'saved_search.renamed')
        and metadata ->> 'reason' = 'same_name' and occurred_at > now() - ${SHOWN_FOR}
      order by occurred_at desc, id desc limit 1000`.execute(db);
    if (rows.length === 0) return passed('no name had to be changed');
    const changes = rows.flatMap(({ change }) => change ?? []);
    const saved = rows.length - changes.length;
    const listed = [
      ...changes.slice(0, MOST_NAMED),
      ...(changes.length > MOST_NAMED ? [`${changes.length - MOST_NAMED} more`] : []),
      ...(saved > 0 ? [several(saved, 'saved view or search', 'saved views and searches')] : []),
    ];
    return warning(
      `${several(rows.length, 'name')} had to change, because something older has it in another spelling: ${listed.join(', ')}`,
      'Tell renamed users their new names; passwords are unchanged. The audit log lists accounts as user.renamed, tags as tag.merged, aliases as field.alias.removed, and saved queries as feed_view.renamed and saved_search.renamed.',
    );
  },
};

export const nameExaminations = [renamedNames];

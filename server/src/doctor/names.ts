import { sql } from 'kysely';
import { type Examination, passed, several, warning } from './check.ts';

/** How long a change is reported. */
const SHOWN_FOR = sql`interval '90 days'`;

/** Names in the finding; the audit log has all. */
const MOST_NAMED = 20;

/** NAME-3, NAME-5: what was renamed because it had the name of something older. */
const renamedNames: Examination = {
  code: 'renamed_names',
  title: 'Renamed names',
  async look({ db }) {
    const { rows } = await sql<{ from: string; to: string }>`
      select metadata ->> 'from' as from, metadata ->> 'to' as to from audit_events
      where event in ('user.renamed', 'tag.merged') and metadata ->> 'reason' = 'same_name'
        and occurred_at > now() - ${SHOWN_FOR}
      order by occurred_at desc, id desc limit 1000`.execute(db);
    if (rows.length === 0) return passed('no name had to be changed');
    const listed = rows.slice(0, MOST_NAMED).map(({ from, to }) => `${from} is now ${to}`);
    const more = rows.length > MOST_NAMED ? [`${rows.length - MOST_NAMED} more`] : [];
    return warning(
      `${several(rows.length, 'name')} had to change, because something older has it in another spelling: ${[...listed, ...more].join(', ')}`,
      'Tell renamed users their new names; passwords are unchanged. The audit log lists accounts as user.renamed and tags as tag.merged.',
    );
  },
};

export const nameExaminations = [renamedNames];

import { sql } from 'kysely';
import { type Sentence, sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { type Examination, passed, warning } from './check.ts';

/** How long a change is reported. */
const SHOWN_FOR = sql`interval '90 days'`;

/** Names in the finding; the audit log has all. */
const MOST_NAMED = 20;

interface Renaming {
  event: string;
  former: string | null;
  present: string | null;
}

/** Returns what has another name now; null for names of saved views and searches, which are private. */
function changeOf({ event, former, present }: Renaming): Sentence | null {
  if (former === null || present === null) return null;
  return event === 'field.alias.removed'
    ? sentence('the alias {alias} of {value} was removed', { alias: former, value: present })
    : sentence('{name} is now {other}', { name: former, other: present });
}

/** NAME-3, NAME-5, NAME-6, NAME-8: what changed because it had the name of something older. */
const renamedNames: Examination = {
  code: 'renamed_names',
  title: sentence('Renamed names'),
  async look({ db }) {
    const { rows } = await sql<Renaming>`
      select event,
        case when event in ('user.renamed', 'tag.merged') then metadata ->> 'from'
          when event = 'field.alias.removed' then metadata ->> 'alias' end as former,
        case when event in ('user.renamed', 'tag.merged') then metadata ->> 'to'
          when event = 'field.alias.removed' then metadata ->> 'value' end as present
      from audit_events
      where event in ('user.renamed', 'tag.merged', 'field.alias.removed', 'feed_view.renamed', 'saved_search.renamed')
        and metadata ->> 'reason' = 'same_name' and occurred_at > now() - ${SHOWN_FOR}
      order by occurred_at desc, id desc limit 1000`.execute(db);
    if (rows.length === 0) return passed(sentence('no name had to be changed'));
    const changes = rows.flatMap((row) => changeOf(row) ?? []);
    const saved = rows.length - changes.length;
    const more = changes.length - MOST_NAMED;
    const listed = [
      ...changes.slice(0, MOST_NAMED),
      ...(more > 0 ? [sentence('{count} more', { count: more })] : []),
      ...(saved > 0 ? [sentenceCount(saved, ['# saved view or search', '# saved views and searches'])] : []),
    ];
    return warning(
      sentenceCount(
        rows.length,
        [
          '# name had to change, because something older has it in another spelling: {changes}',
          '# names had to change, because something older has them in another spelling: {changes}',
        ],
        { changes: listed },
      ),
      sentence(
        'Tell renamed users their new names; passwords are unchanged. The audit log lists accounts as user.renamed, tags as tag.merged, aliases as field.alias.removed, and saved queries as feed_view.renamed and saved_search.renamed.',
      ),
    );
  },
};

export const nameExaminations = [renamedNames];

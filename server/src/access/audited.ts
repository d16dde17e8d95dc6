import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import { holds, type SignedIn } from './caller.ts';
import { readableCollections } from './collections.ts';
import { readablePosts } from './posts.ts';
import { shownTeams } from './teams.ts';

/**
 * The title of the target of an event `e`, or null if it is deleted or the caller may not see it (AUDIT-8). To read the
 * audit log is not to read the content.
 */
export function titleOfTarget(caller: SignedIn): RawBuilder<string | null> {
  const teams = holds(caller, 'teams.read')
    ? sql`when 'team' then (select t.name from teams t where t.id = e.target_id and ${shownTeams(caller)})`
    : sql``;
  return sql`case e.target_kind
    when 'post' then (select p.title from posts p where p.id = e.target_id and ${readablePosts(caller)})
    when 'asset' then (select a.title from assets a where a.id = e.target_id and ${shownAssets(caller)})
    when 'collection' then (select c.name from collections c where c.id = e.target_id and ${readableCollections(caller)})
${teams}
    end`;
}

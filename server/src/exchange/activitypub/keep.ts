import { sql } from 'kysely';
import { followableActor, followablePost } from '../../access/activitypub.ts';
import type { Deps } from '../../core/deps.ts';
import { enqueueAll, type JobHandler } from '../../core/job-table.ts';
import { eraseKeys } from './actors.ts';
import { wakeInboxes } from './deliveries.ts';
import { forgetExpired } from './memory.ts';
import { readActivityPub } from './site.ts';

/** Maximum number of posts per run; the next run continues. */
const MOST_POSTS = 1000;

/**
 * Finds posts whose visibility changed indirectly, for example because their author was hidden or ActivityPub
 * was disabled, and inboxes whose delivery is due (AP-8). Erases keys that are not needed any more (AP-5).
 */
export function keepActivityPubJob({ db, config }: Deps): JobHandler<'keep-activitypub'> {
  return async () => {
    await eraseKeys(db);
    const { site } = await readActivityPub(db, config);
    if (site === null) return;
    const { rows } = await sql<{ post_id: string }>`
      with public as (select ap.id as actor_id, p.id as post_id
        from activitypub_actors ap join users u on u.ref = ap.user_ref join posts p on p.author_user_ref = u.ref
        where ${followableActor} and ${followablePost})
      (select post_id from public where not exists (select from activitypub_posts t
        where t.actor_id = public.actor_id and t.post_id = public.post_id and not t.withdrawn)
      union
      select t.post_id from activitypub_posts t where not t.withdrawn and not exists (select from public
        where public.actor_id = t.actor_id and public.post_id = t.post_id))
      limit ${MOST_POSTS}`.execute(db);
    const jobs = rows.map(({ post_id }) => ({
      payload: { post: post_id },
      key: `notify-followers:${post_id}`,
    }));
    await enqueueAll(db, 'notify-followers', jobs);
    const due = await db
      .selectFrom('activitypub_deliveries')
      .select('inbox')
      .distinct()
      .where('next_attempt_at', '<=', sql<string>`now()`)
      .execute();
    await wakeInboxes(
      db,
      due.map(({ inbox }) => inbox),
    );
    await sql`delete from activitypub_inboxes i where delivering_until is null
      and not exists (select from activitypub_deliveries d where d.inbox = i.inbox)
      and not exists (select from activitypub_followers f where f.inbox = i.inbox)`.execute(db);
    await forgetExpired(db);
  };
}

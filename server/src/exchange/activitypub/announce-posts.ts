import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { JobHandler } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeKeyedLock } from '../../platform/database/take-lock.ts';
import { actorUri, followersUri, noteUri, publicAudience } from './addresses.ts';
import { queueActivity } from './deliveries.ts';
import { createOf, digestOf, type Note, noteOf, readNotes } from './notes.ts';
import { type ActivityPubSite, readActivityPub } from './site.ts';

async function recordAnnouncement(tx: Tx, actorId: string, postId: string, digest: string): Promise<void> {
  await tx
    .insertInto('activitypub_posts')
    .values({ actor_id: actorId, post_id: postId, digest })
    .onConflict((conflict) =>
      conflict.columns(['actor_id', 'post_id']).doUpdateSet((eb) => ({
        digest: eb.ref('excluded.digest'),
        withdrawn: false,
        updated_at: sql<string>`now()`,
      })),
    )
    .execute();
}

async function withdraw(tx: Tx, site: ActivityPubSite, actorId: string, postId: string): Promise<void> {
  await tx
    .updateTable('activitypub_posts')
    .set({ withdrawn: true, digest: null, updated_at: sql<string>`now()` })
    .where('actor_id', '=', actorId)
    .where('post_id', '=', postId)
    .execute();
  await tx
    .deleteFrom('activitypub_reactions')
    .where('actor_id', '=', actorId)
    .where('post_id', '=', postId)
    .execute();
  const id = noteUri(site.url, actorId, postId);
  await queueActivity(tx, actorId, {
    id: `${id}#delete-${Date.now()}`,
    type: 'Delete',
    actor: actorUri(site.url, actorId),
    to: [publicAudience],
    cc: [followersUri(site.url, actorId)],
    object: { id, type: 'Tombstone' },
  });
}

function updateOf(note: Note): Note {
  const { attributedTo, to, cc } = note;
  const updated = new Date().toISOString();
  return {
    id: `${note.id}#update-${Date.parse(updated)}`,
    type: 'Update',
    actor: attributedTo,
    to,
    cc,
    object: { ...note, updated },
  };
}

/**
 * Compares the last announced state of a post with its current public state, and queues the Create, Update or
 * Delete that followers need (AP-7, AP-8). Idempotent.
 */
async function announceChange({ db, config }: Deps, postId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Serialises jobs of a post, which would otherwise both announce it.
    await takeKeyedLock(tx, 'announcedPost', postId);
    const { site } = await readActivityPub(tx, config);
    if (site === null) return;
    const [row] = await readNotes(tx, sql`p.id = ${postId}`);
    const announced = await tx
      .selectFrom('activitypub_posts')
      .select(['actor_id', 'digest', 'withdrawn'])
      .where('post_id', '=', postId)
      .execute();
    for (const { actor_id, withdrawn } of announced)
      if (!withdrawn && actor_id !== row?.actor_id) await withdraw(tx, site, actor_id, postId);
    // Its previews are pending; the job that renders them announces the post.
    if (row === undefined || row.pending) return;
    const note = noteOf(site, row);
    const digest = digestOf(note);
    const before = announced.find(({ actor_id }) => actor_id === row.actor_id);
    if (before !== undefined && !before.withdrawn && before.digest === digest) return;
    await recordAnnouncement(tx, row.actor_id, postId, digest);
    const isNew = before === undefined || before.withdrawn;
    const nth = before === undefined ? '' : `-${Date.now()}`;
    await queueActivity(tx, row.actor_id, isNew ? createOf(note, nth) : updateOf(note));
  });
}

export function notifyFollowersJob(deps: Deps): JobHandler<'notify-followers'> {
  return ({ post }) => announceChange(deps, post);
}

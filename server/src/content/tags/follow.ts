import { foldName } from '@vitrine/contract/names';
import { followTag, listFollowedTags, unfollowTag } from '@vitrine/contract/tags';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { storedTag } from '../../core/tag-register.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** TAG-3: the limit of a plain array; more followed tags could not be listed. */
const MOST = 200;

/** Any text may be followed, which reveals nothing about its use. Idempotent. */
export const follow = handle(followTag, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const tag = await storedTag(tx, params.tag);
    const key = foldName(tag);
    await sql`select from users where ref = ${caller.ref} for no key update`.execute(tx);
    const { rows } = await sql<{ full: boolean }>`
      select count(*) filter (where key is distinct from ${key}) >= ${MOST} as full
      from tag_follows where user_ref = ${caller.ref}`.execute(tx);
    if (rows[0]?.full === true) throw refuse('too-many-followed-tags', { max: MOST });
    await tx
      .insertInto('tag_follows')
      .values({ user_ref: caller.ref, tag, key, created_at: sql`clock_timestamp()` })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
  return { status: 204 };
});

export const unfollow = handle(unfollowTag, async ({ db }, { caller, params }) => {
  await db
    .deleteFrom('tag_follows')
    .where('user_ref', '=', caller.ref)
    .where('key', '=', foldName(params.tag))
    .execute();
  return { status: 204 };
});

/** Lists the followed tags, including those hidden from the rail, as posts spell them (NAME-4). */
export const followed = handle(listFollowedTags, async ({ db }, { caller }) => {
  const { rows } = await sql<{ tag: string; followed_at: string }>`
    select coalesce(t.name, g.tag) as tag, g.created_at as followed_at
    from tag_follows g left join tags t on t.key = g.key
    where g.user_ref = ${caller.ref} order by g.created_at desc, g.tag limit ${MOST}`.execute(db);
  return { status: 200, body: rows };
});

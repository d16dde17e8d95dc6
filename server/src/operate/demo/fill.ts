import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { insertAsset, stageFile, storeFile } from '../../content/assets/insert.ts';
import { discard, receive } from '../../content/assets/receive.ts';
import { insertPost } from '../../content/posts/insert.ts';
import type { Deps } from '../../core/deps.ts';
import { writeSetting } from '../../core/settings.ts';
import { keysOf } from '../../media/ladder.ts';
import { sharp } from '../../media/tuned-sharp.ts';
import { createAccount } from '../../people/identity/accounts.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { exifOf } from './outings.ts';
import { people, remarks, type SamplePost, samplePosts } from './people.ts';
import { between, pick, type Random, seeded } from './random.ts';
import { scenes } from './scenes.ts';

/** The account for signing in to the sample library. */
export const demoAdministrator = { username: 'demo', password: 'demo-library' };

const formats: readonly [readonly [number, number], ...(readonly [number, number])[]] = [
  [1800, 1200],
  [1200, 1800],
  [1600, 1600],
  [2100, 1180],
  [1400, 1750],
  [2000, 1333],
];

/** Draws a picture of a post with grain, as a JPEG with a date and a place, like one from a camera. */
async function drawPicture(post: SamplePost, index: number, random: Random, scale: number): Promise<Buffer> {
  const format = pick(random, formats);
  const [width, height] = [Math.round(format[0] * scale), Math.round(format[1] * scale)];
  const grain = sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 9 },
    },
  });
  return sharp(Buffer.from(scenes[post.scene](random, width, height)))
    .composite([{ input: await grain.png({ compressionLevel: 0 }).toBuffer(), blend: 'soft-light' }])
    .jpeg({ quality: 88 })
    .withExif(exifOf(post.title, index, new Date()))
    .toBuffer();
}

/** Adds a picture of a post from its bytes. */
async function addPicture(deps: Deps, ownerRef: number, post: SamplePost, index: number, bytes: Buffer) {
  const { db, storage, ladder } = deps;
  const received = await receive(Readable.from([bytes]), storage);
  try {
    await stageFile(storage, received);
    return await db.transaction().execute(async (tx) => {
      await storeFile(tx, storage, received);
      const { hash, mime, kind } = received;
      const title = post.pictures === 1 ? post.title : `${post.title}, ${index + 1}`;
      const fileName = `${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.jpg`;
      const fields = { title, tags: post.tags };
      return insertAsset(tx, { ownerRef, ladderKeys: keysOf(ladder), hash, mime, kind, fileName, fields });
    });
  } finally {
    await discard(received.path);
  }
}

/** Adds likes and comments of the other accounts. */
async function addEchoes(tx: Tx, postId: string, others: readonly number[], random: Random): Promise<void> {
  const likers = others.filter(() => random() < 0.6);
  for (const ref of likers) {
    await tx.insertInto('post_likes').values({ post_id: postId, user_ref: ref }).execute();
  }
  const [first = '', ...rest] = remarks;
  const commenters = others.filter(() => random() < 0.25);
  for (const ref of commenters) {
    await tx
      .insertInto('comments')
      .values({ post_id: postId, author_user_ref: ref, body: pick(random, [first, ...rest]) })
      .execute();
  }
}

async function addPeople(deps: Deps): Promise<Map<string, number>> {
  const { username, password } = demoAdministrator;
  const everybody = [
    ...people.map((person) => ({ ...person, password: demoAdministrator.password, role: 'member' as const })),
    { username, password, role: 'admin' as const, displayName: 'Demo' },
  ];
  for (const account of everybody) await createAccount(deps.db, deps.passwords, account);
  const rows = await deps.db.selectFrom('users').select(['username', 'ref']).execute();
  return new Map(rows.map((row) => [row.username, row.ref]));
}

/**
 * Fills the sample library: six people, their posts and pictures, likes and comments. Keeps what exists, so it can be
 * interrupted and repeated. Pictures are drawn from a seed, so they look the same in every sample library.
 */
export async function fillDemo(deps: Deps, pictureScale: number): Promise<void> {
  // A sample library is public.
  await writeSetting(deps.db, 'public_mode', true);
  const refs = await addPeople(deps);
  const authors = people.flatMap((person) => refs.get(person.username) ?? []);
  const { rows } = await sql<{ posts: number }>`select count(*) as posts from posts`.execute(deps.db);
  const done = rows[0]?.posts ?? 0;
  // The page shows the newest first, so the first of the list is created last.
  const order = [...samplePosts].reverse();
  for (const [index, post] of order.entries()) {
    const authorRef = refs.get(post.by);
    if (index < done || authorRef === undefined) continue;
    const random = seeded(1000 + index);
    const ids: string[] = [];
    for (let i = 0; i < post.pictures; i += 1) {
      const bytes = await drawPicture(post, i, random, pictureScale);
      ids.push(await addPicture(deps, authorRef, post, i, bytes));
    }
    await deps.db.transaction().execute(async (tx) => {
      const members = ids.map((asset_id) => ({ asset_id }));
      const { title, description, tags, visibility } = post;
      const id = await insertPost(tx, authorRef, { members, title, description, tags, visibility });
      const hours = (order.length - index) * between(random, 5, 9);
      await tx
        .updateTable('posts')
        .set({ posted_at: sql<string>`now() - make_interval(mins => ${Math.round(hours * 60)})` })
        .where('id', '=', id)
        .execute();
      await addEchoes(
        tx,
        id,
        authors.filter((ref) => ref !== authorRef),
        random,
      );
    });
  }
}

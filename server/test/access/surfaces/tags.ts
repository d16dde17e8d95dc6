import type { Tag } from '@vitrine/contract/tags';
import { sql } from 'kysely';
import { keepTagKeys } from '../../../src/content/tags/keys.ts';
import { type About, isShown } from '../described-world.ts';
import { isShared } from '../due.ts';
import { accountDoor, itemsAt, readDoor, refusalOf, together } from '../send-requests.ts';
import { holdSet } from './search.ts';

/** Tags: callers see those of posts that they read and assets that they see; unused names are not found. */

const nameOf = (kind: 'ptag' | 'atag', index: number) => `${kind}${String(index).padStart(4, '0')}`;

export interface Tagged {
  /** Each has its own tag. */
  posts: { tag: string; post: About['world']['posts'][number] }[];
  assets: { tag: string; asset: About['world']['assets'][number] }[];
}

export async function addTags({ world, callers }: About): Promise<Tagged> {
  const { db } = world.library.deps;
  const posts = world.posts
    .filter(({ tag }) => tag === 'sample' || tag === 'gallery')
    .map((post, index) => ({ post, tag: nameOf('ptag', index) }));
  const assets = world.assets
    .filter((_, index) => index % 15 === 0)
    .map((asset, index) => ({ asset, tag: nameOf('atag', index) }));
  await sql`update posts p set tags = p.tags || array[given.tag]
    from unnest(${posts.map(({ post }) => post.id)}::uuid[], ${posts.map(({ tag }) => tag)}::text[]) as given (id, tag)
    where p.id = given.id`.execute(db);
  await sql`insert into asset_tags (asset_id, value, source)
    select id, tag, 'manual' from unnest(${assets.map(({ asset }) => asset.id)}::uuid[],
      ${assets.map(({ tag }) => tag)}::text[]) as given (id, tag)`.execute(db);
  // A name that is no longer used.
  await sql`insert into tags (name, seen_in_public) values ('ptag9999', true)`.execute(db);
  const refs = [...new Set(callers.flatMap(({ ref }) => ref ?? []))];
  await sql`insert into tag_follows (user_ref, tag) select ref, 'followed-by-' || ref from unnest(${refs}::bigint[]) ref`.execute(
    db,
  );
  // As the job does for what a process of an earlier version writes.
  await keepTagKeys(world.library.deps);
  await sql`analyze`.execute(db);
  return { posts, assets };
}

export async function lookAtTags(about: About, { posts, assets }: Tagged) {
  const { ledger, callers, world } = about;
  await together([...callers.entries()], async ([place, caller]) => {
    const who = caller.kind;
    const label = `${caller.name}: tags`;
    const own = await caller.visitor.send('/auth/me/followed-tags');
    const ownDue = refusalOf(caller, accountDoor) ?? 200;
    ledger.hold(`${label} followed: status`, own.status, ownDue);
    if (own.status === 200) {
      const followed: { tag: string }[] = JSON.parse(own.text);
      ledger.hold(`${label} followed`, followed.map(({ tag }) => tag).join(), `followed-by-${caller.ref}`);
    }
    const refusal = refusalOf(caller, readDoor);
    const { status } = await caller.visitor.send('/tags');
    ledger.hold(`${label}: status`, status, refusal ?? 200);
    if (refusal !== null) return;
    // Drafts are in no list, not even for their author, so a tag that only a draft has does not exist (POST-7).
    const ofPosts = posts.filter(({ post }) => isShared(who, post)).map(({ tag }) => tag);
    const ofAssets = assets.filter(({ asset }) => isShown(who, asset)).map(({ tag }) => tag);
    const tagsLike = (q: string) => itemsAt<Tag>(caller.visitor, '/tags', { q });
    const found = [...(await tagsLike('ptag')), ...(await tagsLike('atag'))];
    const names = found.map(({ tag }) => tag);
    holdSet(about, label, names, [...ofPosts, ...ofAssets]);
    const counts = found.map(({ tag, post_count }) => `${tag} ${post_count}`);
    holdSet(about, `${label}: counts`, counts, [
      ...ofPosts.map((tag) => `${tag} 1`),
      ...ofAssets.map((tag) => `${tag} 0`),
    ]);
    for (const kind of ['ptag', 'atag'] as const) {
      const { text } = await caller.visitor.send(`/search?kind=tag&q=${kind}&limit=200`);
      const page: { total: number } = JSON.parse(text);
      const due = (kind === 'ptag' ? ofPosts : ofAssets).length;
      ledger.hold(`${label}: /search?kind=tag&q=${kind}`, page.total, due);
    }
    const known = new Set([...ofPosts, ...ofAssets]);
    // Another part of the tags for each caller, because each is counted anew.
    const asked = [...posts, ...assets]
      .map(({ tag }) => tag)
      .filter((_, index) => (index + place) % 43 === 0);
    for (const tag of [...asked, 'ptag9999']) {
      const one = await caller.visitor.status('GET', `/tags/${tag}`);
      ledger.hold(`${label}: ${tag}`, one, known.has(tag) ? 200 : 404);
    }
    const sample: Tag = JSON.parse((await caller.visitor.send('/tags/sample')).text);
    const shared = world.posts.filter((post) => post.tag === 'sample' && isShared(who, post)).length;
    ledger.hold(`${label}: how many posts`, sample.post_count, shared);
  });
}

import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { describe, expect, test } from 'vitest';
import { openAssetTexts } from '../../src/core/kept-texts.ts';
import { change, define } from '../fields/define.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

/** Lists of posts and `GET /posts/{id}` send cached texts, which must be the same as if nothing had been cached. */

async function inFeed(caller: Visitor): Promise<Post | undefined> {
  return (await caller.ok('listPosts', { query: {} })).items.find(({ id }) => id === post);
}

/** Returns the post as `GET /posts/{id}` shows it, without what lists leave out. */
async function alone(caller: Visitor): Promise<Post> {
  const { annotation_counts, ...listed } = await caller.ok('getPost', { params: { id: post } });
  expect(annotation_counts).toEqual([]);
  return listed;
}

/** Returns the post as the list of a file's posts shows it. */
async function ofAsset(caller: Visitor): Promise<Post | undefined> {
  const posts = await caller.ok('listPostsByAsset', { params: { id: second } });
  return posts.find(({ id }) => id === post);
}

/**
 * Compares, for every caller, what the caches say with what is assembled without them. The list of a file's posts is
 * assembled like the feed, so only its owner and a visitor ask for it, and for the feed after the caches are filled again.
 */
async function expectSame(): Promise<void> {
  const { texts, postTexts } = library.deps;
  const alsoAsk = [callers.mara, callers.visitor];
  const shown: Record<string, Record<string, Post | undefined>> = {};
  for (const [name, caller] of Object.entries(callers)) {
    shown[name] = { inFeed: await inFeed(caller), alone: await alone(caller) };
    if (alsoAsk.includes(caller)) shown[name].ofAsset = await ofAsset(caller);
  }
  texts.clear();
  postTexts.clear();
  for (const [name, caller] of Object.entries(callers)) {
    const written = await alone(caller);
    const isAskedMore = alsoAsk.includes(caller);
    const same = { inFeed: written, alone: written, ...(isAskedMore ? { ofAsset: written } : {}) };
    expect({ name, ...shown[name] }).toEqual({ name, ...same });
    if (isAskedMore) expect({ name, kept: await inFeed(caller) }).toEqual({ name, kept: written });
  }
}

const library = await openLibrary();
const [mara, ben] = await library.joinAll('mara', 'ben');
const root = await library.join('root', 'admin');
const [reader, adult] = await library.joinAll('reader', 'adult');
await library.setPublicMode(true);
await adult.ok('updatePreferences', { body: { mature_content: { show: true } } });
const callers: Record<string, Visitor> = { mara, ben, root, reader, adult, visitor: visit(library.address) };
const [one, two] = [
  await upload(mara, await jpeg(64, 48)),
  await upload(mara, await jpeg(48, 64, { seed: 2 })),
];
const [first, second] = [one.id, two.id];
const third = (await upload(mara, await jpeg(32, 32, { seed: 3 }))).id;
await library.runJobs();
const post = (await publish(mara, [one, two], { title: 'Quay', tags: ['harbour'], visibility: 'public' })).id;
await expectSame();

const asset = (body: object) => mara.ok('updateAsset', { params: { id: first }, body });
const ofPost = (body: object) => mara.ok('updatePost', { params: { id: post }, body });
const profile = (of: Account, body: object) => of.ok('updateUser', { params: { ref: of.ref }, body });
const run = (statement: ReturnType<typeof sql>) => statement.execute(library.deps.db);

let comment = '';
let field = '';

/** Run in this order. Each changes something that the feed shows. */
const changes: Record<string, () => Promise<unknown>> = {
  'the title of a file': () => asset({ title: 'Lamp' }),
  'the description of a file': () => asset({ description: 'By night' }),
  'the metadata of a file': () => asset({ metadata: { place: 'pier "7"', lines: 'a\nb' } }),
  'the tags of a file': () => asset({ tags: ['lamp', 'night'] }),
  'the order of the tags': () => asset({ tags: ['night', 'lamp'] }),
  'the source of a tag': () =>
    run(sql`update asset_tags set source = 'ai', confidence = 0.5 where value = 'lamp'`),
  'renaming a tag': () => root.ok('renameTag', { params: { tag: 'lamp' }, body: { to: 'lamps' } }),
  'merging tags': () =>
    root.ok('mergeTags', { body: { source: 'lamps', target: 'night', reason: 'one of them' } }),
  'removing all tags': () => asset({ tags: [] }),
  'the AI provenance of a file': () => asset({ ai_provenance: 'assisted' }),
  'marking a file as mature': () => asset({ mature: true }),
  'unmarking a mature file': () => asset({ mature: false }),
  'the sensitivity of a file': () => asset({ sensitivity: 'posts' }),
  'adding subtitles': () =>
    run(sql`insert into subtitles (asset_id, lang, label, file_hash, size_bytes, source_format, confidence)
      values (${first}, 'en', 'English', ${'a'.repeat(64)}, 10, 'srt', 1)`),
  'the label of subtitles': () => run(sql`update subtitles set label = 'Anglais'`),
  'deleting subtitles': () => run(sql`delete from subtitles`),
  'the renditions of a file': () => run(sql`update files set renditions = renditions - 'hires'`),
  'the thumbhash of a file': () => run(sql`update files set thumbhash = 'AAAA'`),
  'the sizes of previews': async () => {
    const { variants } = await root.ok('getPreviewSettings');
    const lower = variants.filter(({ key }) => key !== 'hires');
    await root.ok('setPreviewSettings', { body: { variants: lower } });
    const keys = lower.map(({ key }) => key);
    // A notification tells processes about a new ladder.
    await expect
      .poll(async () => (await root.ok('getPreviews')).variants.map(({ key }) => key))
      .toEqual(keys);
  },
  'the name of its owner': () => profile(mara, { display_name: 'Mara Lind' }),
  'the avatar of its owner': () => profile(mara, { avatar_asset_id: second }),
  'hiding the owner from visitors': () => profile(mara, { hide_from_anonymous: true }),
  'a card field': async () => {
    field = (await define(root, { type: 'text' })).id;
    await change(root, field, { show_on_card: true });
    const params = { id: first, field_id: field };
    await mara.ok('setAssetFieldValue', { params, body: { value_text: 'Dock 3' } });
  },
  'the label of a card field': () => change(root, field, { label: 'Place' }),
  'the title of the post': () => ofPost({ title: 'Morning at the quay' }),
  'the tags of the post': () => ofPost({ tags: ['morning'] }),
  'the cover of the post': () => ofPost({ cover_asset_id: second }),
  'the focal point of the cover': () => ofPost({ cover_focal_x: 0.25, cover_focal_y: 0.75 }),
  'the thumbnail of the post': () => ofPost({ cover_thumbnail_asset_id: third }),
  'the AI provenance of the thumbnail': () =>
    mara.ok('updateAsset', { params: { id: third }, body: { ai_provenance: 'generated' } }),
  'deleting the thumbnail': () => mara.ok('deleteAsset', { params: { id: third }, body: {} }),
  'the order of the members': () => ofPost({ members: [{ asset_id: second }, { asset_id: first }] }),
  'disabling comments': () => ofPost({ comments_enabled: false }),
  'enabling comments': () => ofPost({ comments_enabled: true }),
  'adding a comment': async () => {
    comment = (await ben.ok('createComment', { params: { id: post }, body: { body: 'Lovely' } })).id;
  },
  'editing a comment': () => ben.ok('updateComment', { params: { id: comment }, body: { body: 'Fine' } }),
  'the name of a commenter': () => profile(ben, { display_name: 'Ben' }),
  'hiding a commenter from visitors': () => profile(ben, { hide_from_anonymous: true }),
  'deleting a comment': () => ben.ok('deleteComment', { params: { id: comment } }),
  'liking the post': () => ben.ok('likePost', { params: { id: post } }),
  'unliking the post': () => ben.ok('unlikePost', { params: { id: post } }),
  'deleting a file': () => mara.ok('deleteAsset', { params: { id: first }, body: {} }),
};

// FEED-14
describe('the feed and GET /posts/{id} show the current post to every caller after changing', () => {
  test.each(Object.keys(changes))('%s', async (name) => {
    await changes[name]?.();
    await expectSame();
  });

  test('the sensitivity, to one caller as a placeholder and to the owner in full', async () => {
    await mara.ok('updateAsset', { params: { id: second }, body: { sensitivity: 'restricted' } });
    expect(await inFeed(ben)).toBeUndefined();
    expect((await inFeed(mara))?.members).toMatchObject([{ restricted: false }]);
    await ben.ok('updatePreferences', { body: { feed_filters: { show_restricted: true } } });
    expect((await inFeed(ben))?.members).toMatchObject([{ restricted: true }]);
    expect(JSON.stringify(await inFeed(ben))).not.toContain('file_hash');
  });
});

test('the cache of texts has a bounded size', () => {
  const texts = openAssetTexts(10_000);
  expect(texts).toBeInstanceOf(LRUCache);
  for (let one = 0; one < 100; one += 1)
    texts.set(String(one), {
      version: '1',
      text: 'x'.repeat(800),
      owner_user_ref: 1,
      asset_team_id: null,
      mature: false,
      sensitivity: 'public',
      asset_deleted_at: null,
      root: null,
      has_col: true,
      has_ladder: true,
      has_cues: true,
    });
  expect(texts.size).toBe(10);
  expect(texts.get('99')?.text).toHaveLength(800);
});

import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { beforeAll, describe, expect, test } from 'vitest';
import { openAssetTexts } from '../../src/assets/texts.ts';
import { change, define } from '../fields/define.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

/**
 * The feed sends kept texts of posts and assets. Whatever changes, it must say what the post itself says, which is read
 * anew each time, to every kind of caller.
 */
let library: Library;
let mara: Account;
let root: Account;
let ben: Account;
let callers: Record<string, Visitor>;
let first: string;
let second: string;
let third: string;
let post: string;

async function inFeed(caller: Visitor): Promise<Post | undefined> {
  return (await caller.ok('listPosts', { query: {} })).items.find(({ id }) => id === post);
}

/** Compares the feed with the post for every caller, twice: once written, once kept. */
async function expectSame(): Promise<void> {
  for (const [name, caller] of Object.entries(callers)) {
    const alone: Post = await caller.ok('getPost', { params: { id: post } });
    for (const round of ['written', 'kept'])
      expect({ name, round, post: await inFeed(caller) }).toEqual({ name, round, post: alone });
  }
}

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  ben = await library.join('ben');
  root = await library.join('root', 'admin');
  const reader = await library.join('reader');
  const adult = await library.join('adult');
  await library.setPublicMode(true);
  await adult.ok('updatePreferences', { body: { mature_content: { show: true } } });
  callers = { mara, ben, root, reader, adult, visitor: visit(library.address) };
  const [one, two] = [
    await upload(mara, await jpeg(64, 48)),
    await upload(mara, await jpeg(48, 64, { seed: 2 })),
  ];
  [first, second] = [one.id, two.id];
  third = (await upload(mara, await jpeg(32, 32, { seed: 3 }))).id;
  await library.runJobs();
  post = (await publish(mara, [one, two], { title: 'Quay', tags: ['harbour'], visibility: 'public' })).id;
  await expectSame();
});

const asset = (body: object) => mara.ok('updateAsset', { params: { id: first }, body });
const ofPost = (body: object) => mara.ok('updatePost', { params: { id: post }, body });
const profile = (of: Account, body: object) => of.ok('updateUser', { params: { ref: of.ref }, body });
const run = (statement: ReturnType<typeof sql>) => statement.execute(library.deps.db);

let comment = '';
let field = '';

/** In this order; each changes something that a post in the feed shows. */
const changes: Record<string, () => Promise<unknown>> = {
  'the title of a file': () => asset({ title: 'Lamp' }),
  'the description of a file': () => asset({ description: 'By night' }),
  'the metadata of a file': () => asset({ metadata: { place: 'pier "7"', lines: 'a\nb' } }),
  'its tags': () => asset({ tags: ['lamp', 'night'] }),
  'the order of its tags': () => asset({ tags: ['night', 'lamp'] }),
  'the source of a tag': () =>
    run(sql`update asset_tags set source = 'ai', confidence = 0.5 where value = 'lamp'`),
  'a renamed tag': () => root.ok('renameTag', { params: { tag: 'lamp' }, body: { to: 'lamps' } }),
  'merged tags': () =>
    root.ok('mergeTags', { body: { source: 'lamps', target: 'night', reason: 'one of them' } }),
  'no tags': () => asset({ tags: [] }),
  'what it is declared as': () => asset({ ai_provenance: 'assisted' }),
  'that it is mature': () => asset({ mature: true }),
  'that it is not mature': () => asset({ mature: false }),
  'its audience': () => asset({ sensitivity: 'posts' }),
  subtitles: () =>
    run(sql`insert into subtitles (asset_id, lang, label, file_hash, size_bytes, source_format, confidence)
      values (${first}, 'en', 'English', ${'a'.repeat(64)}, 10, 'srt', 1)`),
  'the name of subtitles': () => run(sql`update subtitles set label = 'Anglais'`),
  'no subtitles': () => run(sql`delete from subtitles`),
  'its previews': () => run(sql`update files set renditions = renditions - 'hires'`),
  'its poster': () => run(sql`update files set thumbhash = 'AAAA'`),
  'the sizes of previews': async () => {
    const { variants } = await root.ok('getPreviewSettings');
    const lower = variants.filter(({ key }) => key !== 'hires');
    await root.ok('setPreviewSettings', { body: { variants: lower } });
  },
  'the name of its owner': () => profile(mara, { display_name: 'Mara Lind' }),
  'the picture of its owner': () => profile(mara, { avatar_asset_id: second }),
  'an owner who hides from visitors': () => profile(mara, { hide_from_anonymous: true }),
  'a field on its card': async () => {
    field = (await define(root, { type: 'text' })).id;
    await change(root, field, { show_on_card: true });
    const params = { id: first, field_id: field };
    await mara.ok('setAssetFieldValue', { params, body: { value_text: 'Dock 3' } });
  },
  'the label of that field': () => change(root, field, { label: 'Place' }),
  'the title of the post': () => ofPost({ title: 'Morning at the quay' }),
  'its own tags': () => ofPost({ tags: ['morning'] }),
  'its cover': () => ofPost({ cover_asset_id: second }),
  'the focal point of its cover': () => ofPost({ cover_focal_x: 0.25, cover_focal_y: 0.75 }),
  'its thumbnail': () => ofPost({ cover_thumbnail_asset_id: third }),
  'what its thumbnail is declared as': () =>
    mara.ok('updateAsset', { params: { id: third }, body: { ai_provenance: 'generated' } }),
  'a thumbnail in the trash': () => mara.ok('deleteAsset', { params: { id: third }, body: {} }),
  'the order of its members': () => ofPost({ members: [{ asset_id: second }, { asset_id: first }] }),
  'comments turned off': () => ofPost({ comments_enabled: false }),
  'comments turned on': () => ofPost({ comments_enabled: true }),
  'a comment': async () => {
    comment = (await ben.ok('createComment', { params: { id: post }, body: { body: 'Lovely' } })).id;
  },
  'the words of a comment': () =>
    ben.ok('updateComment', { params: { id: comment }, body: { body: 'Fine' } }),
  'the name of who commented': () => profile(ben, { display_name: 'Ben' }),
  'a commenter who hides from visitors': () => profile(ben, { hide_from_anonymous: true }),
  'a comment less': () => ben.ok('deleteComment', { params: { id: comment } }),
  'a like': () => ben.ok('likePost', { params: { id: post } }),
  'a like less': () => ben.ok('unlikePost', { params: { id: post } }),
  'a file in the trash': () => mara.ok('deleteAsset', { params: { id: first }, body: {} }),
};

// FEED-14
describe('the feed shows every change of a post to everyone', () => {
  test.each(Object.keys(changes))('%s', async (name) => {
    await changes[name]?.();
    await expectSame();
  });

  test('withheld to one caller and shown to another', async () => {
    await mara.ok('updateAsset', { params: { id: second }, body: { sensitivity: 'restricted' } });
    expect(await inFeed(ben)).toBeUndefined();
    expect((await inFeed(mara))?.members).toMatchObject([{ restricted: false }]);
    await ben.ok('updatePreferences', { body: { feed_filters: { show_restricted: true } } });
    expect((await inFeed(ben))?.members).toMatchObject([{ restricted: true }]);
    expect(JSON.stringify(await inFeed(ben))).not.toContain('file_hash');
  });
});

test('kept texts take a bounded amount of memory', () => {
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
      has_col: true,
      has_ladder: true,
      has_cues: true,
    });
  expect(texts.size).toBe(10);
  expect(texts.get('99')?.text).toHaveLength(800);
});

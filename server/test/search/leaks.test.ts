import type { SearchPage, SearchQuery } from '@vitrine/contract/search';
import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let stranger: Account;
let follower: Account;
let member: Account;
let reader: Account;
let root: Account;
let anonymous: Visitor;
let team: string;
let bytes: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  library = await openLibrary();
  [mara, stranger, follower, member, reader, root] = await Promise.all([
    arrive(library, 'mara'),
    arrive(library, 'stranger'),
    arrive(library, 'follower'),
    arrive(library, 'member'),
    arrive(library, 'reader'),
    arrive(library, 'root', 'admin'),
  ]);
  anonymous = library.anonymous();
  team = await addTeam(library, 'lights', [member]);
  await grant(library, reader, 'content.read.all');
  await follower.ok('followUser', { params: { ref: mara.ref } });
  bytes = plainFile();
  await library.setPublicMode(true);
});

/** What a search returns for a query: hits, total, order, facets and suggestions. */
async function searched(visitor: Visitor, q: string, query: SearchQuery = {}) {
  const { items, total, facets }: SearchPage = await visitor.ok('search', {
    query: { q, facets: true, limit: 200, ...query },
  });
  return {
    hits: items.map((hit) =>
      hit.kind === 'asset' ? hit.asset.title : hit.kind === 'post' ? hit.post.title : hit.kind,
    ),
    total,
    facets,
    highlights: items.flatMap((hit) => hit.highlights.map(({ text }) => text)),
    suggestions: (await visitor.ok('suggest', { query: { q } })).items.map(({ text }) => text),
  };
}

/** What a search and the lists that take `q` return for a query. */
async function told(visitor: Visitor, q: string, query: SearchQuery = {}) {
  return {
    ...(await searched(visitor, q, query)),
    posts: (await visitor.ok('listPosts', { query: { q } })).items.length,
    assets: (await visitor.ok('listAssets', { query: { q } })).items.length,
  };
}

const notFound = {
  hits: [],
  total: 0,
  facets: { kind: [], asset_type: [], tag: [], visibility: [], team: [], fields: [] },
  highlights: [],
  suggestions: [],
};
const nothing = { ...notFound, posts: 0, assets: 0 };

/** Other queries for a word: as a prefix, quoted, with another word, excluding another word, misspelt. */
const ways = (word: string) => [
  word.slice(0, -2),
  `"${word}"`,
  `${word} -nowhere`,
  `${word.slice(0, 3)}${word.slice(4)}`,
];

async function expectTold(word: string, who: Record<string, [Visitor, boolean]>) {
  for (const [name, [visitor, finds]] of Object.entries(who)) {
    if (finds) {
      expect([name, (await searched(visitor, word)).total > 0]).toEqual([name, true]);
      continue;
    }
    expect([name, word, await told(visitor, word)]).toEqual([name, word, nothing]);
    for (const q of ways(word)) expect([name, q, await searched(visitor, q)]).toEqual([name, q, notFound]);
  }
}

describe('an asset', () => {
  test.each([
    [
      'public',
      'xylophone',
      { sensitivity: 'public' },
      { anonymous: true, stranger: true, member: true, reader: true },
    ],
    [
      'team',
      'didgeridoo',
      { sensitivity: 'team' },
      { anonymous: false, stranger: false, member: true, reader: true },
    ],
    [
      'restricted',
      'bandoneon',
      { sensitivity: 'restricted' },
      { anonymous: false, stranger: false, member: false, reader: true },
    ],
    [
      'draft',
      'theremin',
      { status: 'draft' },
      { anonymous: false, stranger: false, member: false, reader: false },
    ],
  ])('that is %s (%s) is found only by callers who may see its columns', async (_, secret, fields, finds) => {
    // An asset can only belong to a team of its owner.
    await library.deps.db
      .insertInto('team_members')
      .values({ team_id: team, user_ref: mara.ref })
      .onConflict((c) => c.doNothing())
      .execute();
    await upload(mara, bytes, {
      title: secret,
      description: `a ${secret}`,
      tags: secret,
      team_id: team,
      ...fields,
    });
    await expectTold(secret, {
      anonymous: [anonymous, finds.anonymous],
      stranger: [stranger, finds.stranger],
      member: [member, finds.member],
      reader: [reader, finds.reader],
      owner: [mara, true],
      root: [root, true],
      mask: [await actAs(library, root, stranger), finds.stranger],
      token: [await bearer(library, mara, ['read']), true],
    });
  });

  // SEARCH-6
  test('that is mature is found by file name only by callers who may see its bytes', async () => {
    await upload(mara, bytes, { title: 'mature one', mature: 'true' }, 'velociraptor.jpg');
    await expectTold('velociraptor', {
      stranger: [stranger, false],
      owner: [mara, true],
      root: [root, true],
    });
  });

  test('in the trash is not found until it is restored', async () => {
    const { id } = await upload(mara, bytes, { title: 'trashedword' });
    await mara.ok('deleteAsset', { params: { id }, body: {} });
    await expectTold('trashedword', { owner: [mara, false], root: [root, false] });
    await root.ok('restoreAsset', { params: { id } });
    await expectTold('trashedword', { owner: [mara, true] });
  });
});

// SEARCH-2
describe('a post', () => {
  // SEARCH-2
  test.each([
    ['public', 'marimba', {}, { anonymous: true, stranger: true, follower: true, owner: true, root: true }],
    ['org-only', 'zither', {}, { anonymous: false, stranger: true, follower: true, owner: true, root: true }],
    [
      'followers',
      'ukulele',
      {},
      { anonymous: false, stranger: false, follower: true, owner: true, root: true },
    ],
    [
      'private',
      'hurdygurdy',
      {},
      { anonymous: false, stranger: false, follower: false, owner: true, root: true },
    ],
    [
      'public',
      'glockenspiel',
      { draft: true },
      { anonymous: false, stranger: false, follower: false, owner: false, root: false },
    ],
  ] as const)(
    'for %s (%s) is found by whoever the feed shows it',
    async (visibility, secret, body, finds) => {
      const picture = await upload(mara, bytes, { title: 'picture' });
      const post = await publish(mara, [picture], { title: secret, tags: [secret], visibility, ...body });
      await mara
        .ok('createComment', { params: { id: post.id }, body: { body: `about ${secret}` } })
        .catch(() => null);
      await expectTold(secret, {
        anonymous: [anonymous, finds.anonymous],
        stranger: [stranger, finds.stranger],
        follower: [follower, finds.follower],
        owner: [mara, finds.owner],
        root: [root, finds.root],
      });
    },
  );

  test('is not found by a deleted comment, or by the old text of an edited one', async () => {
    const picture = await upload(mara, bytes, { title: 'picture' });
    const { id } = await publish(mara, [picture], { title: 'commented' });
    const comment = await stranger.ok('createComment', { params: { id }, body: { body: 'trombonist' } });
    expect((await told(stranger, 'trombonist')).total).toBe(1);
    await stranger.ok('updateComment', { params: { id: comment.id }, body: { body: 'violinist' } });
    expect([(await told(mara, 'trombonist')).total, (await told(mara, 'violinist')).total]).toEqual([0, 1]);
    await stranger.ok('deleteComment', { params: { id: comment.id } });
    expect(await told(mara, 'violinist')).toEqual(nothing);
  });

  // SEARCH-2
  test('is not found by the title of a withheld member', async () => {
    const hidden = await upload(mara, bytes, { title: 'hiddenmember', sensitivity: 'restricted' });
    const open = await upload(mara, bytes, { title: 'open' });
    await publish(mara, [open, hidden], { title: 'mixed' });
    await expectTold('hiddenmember', { stranger: [stranger, false], owner: [mara, true] });
  });
});

describe('people', () => {
  // SEARCH-14
  test('are found by full name by signed-in callers only', async () => {
    await stranger.ok('updateUser', {
      params: { ref: stranger.ref },
      body: { fullname: 'Persephone Quill' },
    });
    const people = async (visitor: Visitor, q: string) =>
      (await visitor.ok('search', { query: { q, kind: 'user' } })).items.length;
    expect([await people(mara, 'persephone'), await people(anonymous, 'persephone')]).toEqual([1, 0]);
    expect([await people(mara, 'persephnoe'), await people(anonymous, 'persephnoe')]).toEqual([1, 0]);
    expect(await people(anonymous, 'stranger')).toBe(1);
    await stranger.ok('updateUser', { params: { ref: stranger.ref }, body: { hide_from_anonymous: true } });
    expect([await people(mara, 'stranger'), await people(anonymous, 'stranger')]).toEqual([1, 0]);
    expect((await anonymous.ok('suggest', { query: { q: 'strang' } })).items).toEqual([]);
  });

  test('returns 401 to anonymous callers while public mode is off', async () => {
    await library.setPublicMode(false);
    for (const id of ['search', 'suggest'] as const)
      expect((await anonymous.refused(id, { query: { q: 'x' } })).status).toBe(401);
    await library.setPublicMode(true);
  });
});

// SEARCH-7
describe('a field behind a capability', () => {
  let field: string;

  const setField = (body: Record<string, unknown>) => root.ok('updateField', { params: { id: field }, body });

  // SEARCH-7
  test('is searched by holders, everywhere or in the team of the asset', async () => {
    const made = await root.ok('createField', {
      body: { code: 'notes', label: 'Notes', type: 'text', read_capability: 'share.grant' },
    });
    field = made.id;
    const { id } = await upload(mara, bytes, { title: 'annotated gondola', team_id: team });
    await root.ok('setAssetFieldValue', {
      params: { id, field_id: field },
      body: { value_text: 'contrabassoon' },
    });
    await grant(library, follower, 'share.grant');
    await grant(library, member, 'share.grant', team);
    const lonely = await addTeam(library, 'elsewhere');
    await grant(library, stranger, 'share.grant', lonely);
    await expectTold('contrabassoon', {
      anonymous: [anonymous, false],
      stranger: [stranger, false],
      owner: [mara, false],
      reader: [reader, false],
      follower: [follower, true],
      member: [member, true],
      root: [root, true],
    });
  });

  test('does not reveal its words through excluded words or words of the same asset', async () => {
    const hits = async (visitor: Visitor, q: string) => (await told(visitor, q)).hits;
    expect(await hits(follower, 'gondola contrabassoon')).toEqual(['annotated gondola']);
    expect(await hits(follower, 'gondola -contrabassoon')).toEqual([]);
    // Callers who may not read the value find the asset whether the value contains the word or not.
    expect(await hits(mara, 'gondola -contrabassoon')).toEqual(['annotated gondola']);
    expect(await hits(mara, 'gondola contrabassoon')).toEqual([]);
    expect((await told(mara, 'gondola')).highlights).not.toContain('contrabassoon');
    expect((await told(follower, 'contrabassoon')).highlights).toEqual(['contrabassoon']);
  });

  // SEARCH-7
  test('is added to and removed from the search before the response to the change', async () => {
    const total = async (visitor: Visitor) => (await told(visitor, 'contrabassoon')).total;
    await setField({ clear_read_capability: true });
    expect([await total(mara), await total(anonymous)]).toEqual([1, 1]);
    await setField({ read_capability: 'share.grant' });
    expect([await total(mara), await total(anonymous), await total(follower)]).toEqual([0, 0, 1]);
    await setField({ searchable: false });
    expect([await total(mara), await total(root)]).toEqual([0, 0]);
    await setField({ searchable: true });
    expect(await total(root)).toBe(1);
    await root.ok('archiveField', { params: { id: field } });
    expect(await total(root)).toBe(0);
  });
});

describe('ordering', () => {
  // SEARCH-8
  test('does not depend on what the caller may not read', async () => {
    for (const [title, description] of [
      ['ocarina', ''],
      ['an ocarina among others', ''],
      ['something', 'an ocarina'],
    ])
      await upload(mara, bytes, { title: title ?? '', description: description ?? '' });
    const ask = () => stranger.ok('search', { query: { q: 'ocarina', limit: 200, facets: true } });
    const before = await ask();
    for (let n = 0; n < 5; n++)
      await upload(mara, bytes, { title: 'ocarina ocarina', tags: 'ocarina', sensitivity: 'restricted' });
    const hidden = await upload(mara, bytes, { title: 'ocarina too', status: 'draft' });
    await publish(mara, [hidden], { title: 'ocarina', visibility: 'private' });
    expect(await ask()).toEqual(before);
  });
});

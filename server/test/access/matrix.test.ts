import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answered, visit } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { everyItem, labelOfAsset, labelOfCollection, labelOfPost, readDoor, together } from './asking.ts';
import {
  type AssetCell,
  answerOf,
  type CollectionCell,
  type DoorOf,
  dueAsset,
  dueCollection,
  dueInFeed,
  duePost,
  dueWithheld,
  editsAsset,
  editsCollection,
  editsPost,
  isInDrafts,
  isInFeed,
  isInFeedWithTrash,
  isServed,
  isShared,
  type PostCell,
  readsCollection,
  readsPost,
  readsUsage,
  refusalAt,
  type Switches,
  type Thread,
} from './due.ts';
import { openLedger } from './ledger.ts';
import {
  lookOfAsset,
  lookOfCollection,
  lookOfPost,
  type SeenAsset,
  type SeenCollection,
  type SeenPost,
} from './looks.ts';
import {
  byAssets,
  byPosts,
  commentAuthor,
  type Standing,
  standings,
  teams,
  undoAnyDelete,
} from './matrix.ts';
import { type Caller, disguiseNames, makeWorld, must, PUBLISHED, WIP, type World } from './world.ts';

const names = [...standings, ...disguiseNames];
const ledger = openLedger();
let world: World;

beforeAll(async () => {
  world = await makeWorld(await openLibrary());
});

const callerOf = (name: string): Caller => must(world.callers.get(name), name);
const isDisguised = ({ name, standing }: Caller) => name !== standing;

/** Everything for those whom these rules tell apart, a part for the others and for those who come in disguise. */
const PART = 8;
function portion<T>(caller: Caller, cells: readonly T[], distinguished: readonly Standing[]): readonly T[] {
  const isAskedAll = !isDisguised(caller) && distinguished.includes(caller.standing);
  return isAskedAll ? cells : cells.filter((_, index) => index % PART === 0);
}

async function setSwitches({ publicMode, matureAllowed }: Switches): Promise<void> {
  await world.library.setPublicMode(publicMode);
  await sql`insert into settings (key, value) values ('mature_allowed', ${JSON.stringify(matureAllowed)})
    on conflict (key) do update set value = excluded.value`.execute(world.library.deps.db);
}

const usual: Switches = { publicMode: true, matureAllowed: true };

const everythingHolds = () => expect(ledger.takeDifferences()).toEqual([]);

// Lists ------------------------------------------------------------------------

interface Feed {
  query: string;
  /** The posts it may have, for whom. */
  cells: readonly PostCell[];
  rule: (who: Standing, post: PostCell) => boolean;
}

async function lookAtFeed(caller: Caller, { query, cells, rule }: Feed, switches: Switches) {
  const items = await everyItem<SeenPost>(ledger, caller, '/posts', query, switches);
  if (items === null) return;
  const who = caller.standing;
  const seen = new Map(items.map((item) => [item.id, lookOfPost(item)]));
  for (const cell of cells) {
    const due = rule(who, cell) ? dueInFeed(who, cell, switches) : 'absent';
    const label = () => `${caller.name}: /posts?${query}: ${labelOfPost(cell)}`;
    ledger.hold(label, seen.get(cell.id) ?? 'absent', due);
  }
  const due = cells.filter((cell) => rule(who, cell)).length;
  ledger.hold(`${caller.name}: /posts?${query}: how many, each once`, items.length, due);
}

function hasAsset(asset: AssetCell): (post: PostCell) => boolean {
  return ({ members }) => !asset.deleted && members.some(({ id }) => id === asset.id);
}

const liveAsset = (changes: Partial<AssetCell>) =>
  must(
    world.assets.find((asset) => {
      const entries = Object.entries({ team: 'team', status: 'active', processing: 'ready', ...changes });
      return entries.every(([key, value]) =>
        Object.entries(asset).some(([k, v]) => k === key && v === value),
      );
    }),
    'such an asset',
  );

/** The feed narrowed and ordered in every way; the same rule throughout. */
function narrowedFeeds(): Feed[] {
  const tagged = (tag: string) => world.posts.filter((post) => post.tag === tag);
  const sample = tagged('sample');
  const withheld = liveAsset({ sensitivity: 'restricted', deleted: false, mature: false });
  const gone = liveAsset({ sensitivity: 'public', deleted: true, mature: false });
  const ofTeam = (post: PostCell) => post.team === 'team';
  return [
    { query: 'tag=sample&sort=oldest', cells: sample, rule: isInFeed },
    { query: 'tag=sample&feed=trending', cells: sample, rule: isInFeed },
    {
      query: 'tag=sample&feed=following',
      cells: sample,
      rule: (who, post) => who === 'follower' && isInFeed(who, post),
    },
    {
      query: `tag=gallery&author_ref=${world.refs.author}`,
      cells: tagged('gallery').filter(({ author }) => author === 'author'),
      rule: isInFeed,
    },
    {
      query: `author_ref=${world.refs.hidden}`,
      cells: world.posts.filter(({ author }) => author === 'hidden'),
      rule: isInFeed,
    },
    { query: `team_id=${world.teamIds.get('team')}`, cells: world.posts.filter(ofTeam), rule: isInFeed },
    { query: `asset=${withheld.id}`, cells: world.posts.filter(hasAsset(withheld)), rule: isInFeed },
    { query: `asset=${gone.id}`, cells: world.posts.filter(hasAsset(gone)), rule: isInFeed },
    {
      query: `liked_by=${world.refOf(commentAuthor)}`,
      cells: sample,
      rule: (who, post) => who === commentAuthor && isInFeed(who, post),
    },
    { query: 'draft=true&tag=sample&feed=trending', cells: sample, rule: isInDrafts },
    { query: 'include_deleted=true&tag=sample', cells: sample, rule: isInFeedWithTrash },
    { query: 'include_deleted=true&tag=gallery', cells: tagged('gallery'), rule: isInFeedWithTrash },
  ];
}

interface Shelf {
  query: string;
  cells: readonly AssetCell[];
  /** A filter looks at columns, so that it finds only what is shown. */
  filtered: boolean;
  withTrash?: boolean;
}

async function lookAtShelf(caller: Caller, shelf: Shelf, switches: Switches) {
  const items = await everyItem<SeenAsset>(ledger, caller, '/assets', shelf.query, switches);
  if (items === null) return;
  const who = caller.standing;
  const seesTrash = shelf.withTrash === true && undoAnyDelete.includes(who);
  const seen = new Map(items.map((item) => [item.id, lookOfAsset(item)]));
  let due = 0;
  for (const cell of shelf.cells) {
    const answer = seesTrash ? 'shown' : answerOf(who, cell);
    const isThere = answer === 'shown' || (answer === 'withheld' && !shelf.filtered);
    const look = answer === 'shown' ? dueAsset(who, cell, switches) : dueWithheld(who, cell);
    const label = () => `${caller.name}: /assets?${shelf.query}: ${labelOfAsset(cell)}`;
    ledger.hold(label, seen.get(cell.id) ?? 'absent', isThere ? look : 'absent');
    if (isThere) due += 1;
  }
  ledger.hold(`${caller.name}: /assets?${shelf.query}: how many, each once`, items.length, due);
}

function filteredShelves(): Shelf[] {
  const where = (rule: (asset: AssetCell) => boolean) => world.assets.filter(rule);
  return [
    { query: 'tag=matrix&sort=oldest', cells: world.assets, filtered: true },
    {
      query: `team_id=${world.teamIds.get('team')}&asset_type=1`,
      cells: where(({ team }) => team === 'team'),
      filtered: true,
    },
    { query: 'status=draft', cells: where(({ status }) => status === 'draft'), filtered: true },
    {
      query: `owner_ref=${world.refs.hidden}`,
      cells: where(({ owner }) => owner === 'hidden'),
      filtered: true,
    },
    { query: 'include_deleted=true', cells: world.assets, filtered: false, withTrash: true },
  ];
}

// One at a time ------------------------------------------------------------------

interface Probe<C> extends DoorOf {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: (cell: C) => string;
  body?: unknown;
  /** What is due to whoever the door lets in: a status, or several that are one to us. Null: not asked. */
  due: (who: Standing, cell: C) => number | readonly number[] | null;
}

async function ask<C>(caller: Caller, probe: Probe<C>, cell: C, label: string, switches: Switches) {
  const due = refusalAt(caller.standing, caller.scopes, probe, switches) ?? probe.due(caller.standing, cell);
  if (due === null) return;
  const { status } = await caller.visitor.send(probe.path(cell), {
    method: probe.method,
    ...(probe.body === undefined ? {} : { body: probe.body }),
  });
  const dueNow = typeof due === 'number' ? due : due.includes(status) ? status : due.join(' or ');
  ledger.hold(`${caller.name}: ${probe.method} ${probe.path(cell)}: ${label}`, status, dueNow);
}

/** 404 for what is not read, 403 for what is read only (choices, posts and assets). */
const changing = (reads: boolean, changes: boolean, done: number) => (changes ? done : reads ? 403 : 404);
const changingPost = (who: Standing, post: PostCell, done: number) =>
  changing(readsPost(who, post), editsPost(who, post), done);
const changingAsset = (who: Standing, asset: AssetCell, done: number) =>
  changing(answerOf(who, asset) !== 'missing', editsAsset(who, asset), done);
const reading = (who: Standing, post: PostCell) => (readsPost(who, post) ? 200 : 404);
const threadOf = ({ thread }: PostCell): Thread => must(thread, 'thread');

/** Every probe of every second cell, so that each cell has half of them. */
async function askInTurns<C>(
  caller: Caller,
  probes: readonly Probe<C>[],
  cells: readonly C[],
  labelOf: (cell: C) => string,
) {
  const asked = cells.map((cell, turn) => ({ cell, turn }));
  await together(asked, async ({ cell, turn }) => {
    for (const [index, probe] of probes.entries()) {
      if ((index + turn) % 2 === 0) await ask(caller, probe, cell, labelOf(cell), usual);
    }
  });
}

const publicRead = { method: 'GET', door: 'public', scope: 'read' } as const;
const posting = { door: 'signedIn', scope: 'posts.write' } as const;
const commenting = { door: 'signedIn', scope: 'comments.write' } as const;

/** Every operation on a post that changes nothing when it is allowed. */
function postProbes(): Probe<PostCell>[] {
  const sharee = world.refOf('sharee');
  return [
    { ...publicRead, path: ({ id }) => `/posts/${id}/comments`, due: reading },
    { ...publicRead, path: ({ id }) => `/posts/${id}/whiteboards`, due: reading },
    { ...publicRead, path: (post) => `/comments/${threadOf(post).byCommenter}/replies`, due: reading },
    {
      method: 'GET',
      door: 'signedIn',
      scope: 'read',
      path: ({ id }) => `/posts/${id}/shares`,
      due: (who, post) => changingPost(who, post, 200),
    },
    {
      method: 'GET',
      door: 'signedIn',
      scope: 'read',
      path: ({ id }) => `/posts/${id}/shares/${sharee}`,
      due: (who, post) => changingPost(who, post, 200),
    },
    {
      ...posting,
      method: 'PUT',
      path: ({ id }) => `/posts/${id}/shares/${sharee}`,
      due: (who, post) => changingPost(who, post, 200),
    },
    {
      ...posting,
      method: 'PATCH',
      path: ({ id }) => `/posts/${id}`,
      body: {},
      due: (who, post) => changingPost(who, post, 200),
    },
    // A move from a state the post is not in is 409 for whoever may move it at all.
    {
      ...posting,
      method: 'POST',
      path: ({ id, draft }) => `/posts/${id}/${draft ? 'unpublish' : 'publish'}`,
      due: (who, post) => changingPost(who, post, 409),
    },
    // Comments are off in every post of the sample (spec 2.2 rule 7).
    {
      ...commenting,
      method: 'POST',
      path: ({ id }) => `/posts/${id}/comments`,
      body: { body: 'well' },
      due: (who, post) => (readsPost(who, post) ? 409 : 404),
    },
    {
      ...commenting,
      method: 'PATCH',
      path: (post) => `/comments/${threadOf(post).byCommenter}`,
      body: {},
      due: (who, post) => changing(readsPost(who, post), readsPost(who, post) && who === commentAuthor, 200),
    },
    {
      ...commenting,
      method: 'DELETE',
      path: (post) => `/comments/${threadOf(post).byCommenter}/like`,
      due: reading,
    },
    {
      ...posting,
      method: 'DELETE',
      path: ({ id }) => `/posts/${id}/like`,
      due: (who, post) => (who === commentAuthor ? null : reading(who, post)),
    },
    {
      ...posting,
      method: 'POST',
      path: ({ id }) => `/posts/${id}/like`,
      due: (who, post) => (who !== commentAuthor && readsPost(who, post) ? null : reading(who, post)),
    },
  ];
}

/** A comment that was deleted is not there for anybody. */
function deletedCommentProbes(): Probe<PostCell>[] {
  return [
    { ...publicRead, path: (post) => `/comments/${threadOf(post).deletedRoot}/replies`, due: () => 404 },
    {
      ...commenting,
      method: 'PATCH',
      path: (post) => `/comments/${threadOf(post).deletedRoot}`,
      body: {},
      due: () => 404,
    },
    {
      ...commenting,
      method: 'DELETE',
      path: (post) => `/comments/${threadOf(post).deletedRoot}`,
      due: () => 404,
    },
    {
      ...commenting,
      method: 'POST',
      path: (post) => `/comments/${threadOf(post).deletedRoot}/like`,
      due: () => 404,
    },
  ];
}

/** Every operation on an asset that changes nothing but a request when it is allowed. */
function assetProbes(): Probe<AssetCell>[] {
  const writing = { door: 'signedIn', scope: 'assets.write' } as const;
  return [
    {
      ...writing,
      method: 'PATCH',
      path: ({ id }) => `/assets/${id}`,
      body: {},
      due: (who, asset) => changingAsset(who, asset, 200),
    },
    {
      ...writing,
      method: 'POST',
      path: ({ id }) => `/assets/${id}/reprocess`,
      // A failed one would be rendered again. The specification does not say which refusal it is.
      due: (who, asset) =>
        editsAsset(who, asset) ? (asset.processing === 'failed' ? null : 200) : [403, 404],
    },
    {
      method: 'POST',
      door: 'signedIn',
      scope: 'admin',
      path: ({ id }) => `/assets/${id}/request-access`,
      due: (who, asset) => {
        if (answerOf(who, asset) === 'missing') return 404;
        return who === 'owner' && asset.owner === 'owner' ? 400 : [200, 201];
      },
    },
  ];
}

async function lookAtPost(caller: Caller, cell: PostCell, switches: Switches) {
  const { status, text } = await caller.visitor.send(`/posts/${cell.id}`);
  const who = caller.standing;
  const got = status === 200 ? lookOfPost(JSON.parse(text)) : status;
  const refusal = refusalAt(who, caller.scopes, readDoor, switches);
  const due = refusal ?? (readsPost(who, cell) ? duePost(who, cell, switches, true) : 404);
  ledger.hold(`${caller.name}: GET /posts/{id}: ${labelOfPost(cell)}`, got, due);
}

async function lookAtThread(caller: Caller, cell: PostCell, switches: Switches) {
  const who = caller.standing;
  const thread = threadOf(cell);
  const isLetIn = refusalAt(who, caller.scopes, readDoor, switches) === null;
  if (!isLetIn || !readsPost(who, cell)) return;
  const comments = await caller.visitor.send(`/posts/${cell.id}/comments`);
  const page: { items: { id: string; replies: { id: string }[]; author?: unknown }[] } = JSON.parse(
    comments.text,
  );
  const got = page.items.map(({ id, replies }) => [id, ...replies.map((reply) => reply.id)].join('>'));
  const due = thread.roots.map((id) => (id === thread.byCommenter ? `${id}>${thread.reply}` : id));
  ledger.hold(`${caller.name}: thread: ${labelOfPost(cell)}`, got.join(), due.join());
  const isTold = page.items[0]?.author !== undefined;
  ledger.hold(`${caller.name}: a hidden commenter: ${labelOfPost(cell)}`, isTold, who !== 'anonymous');
  const like: { liked: boolean; like_count: number } = JSON.parse(
    (await caller.visitor.send(`/posts/${cell.id}/like`)).text,
  );
  const label = `${caller.name}: like: ${labelOfPost(cell)}`;
  ledger.hold(label, `${like.liked} ${like.like_count}`, `${who === commentAuthor} 1`);
}

async function lookAtAsset(caller: Caller, cell: AssetCell, switches: Switches) {
  const { status, text } = await caller.visitor.send(`/assets/${cell.id}`);
  const who = caller.standing;
  const got = status === 200 ? lookOfAsset(JSON.parse(text)) : status;
  const looks = {
    missing: 404,
    withheld: dueWithheld(who, cell),
    shown: dueAsset(who, cell, switches),
  };
  const due = refusalAt(who, caller.scopes, readDoor, switches) ?? looks[answerOf(who, cell)];
  ledger.hold(`${caller.name}: GET /assets/{id}: ${labelOfAsset(cell)}`, got, due);
}

/** The keys that are asked for, with what must have been rendered for each. */
const cover = { key: 'col', of: ['all', 'col'] } as const;
const others = [
  { key: 'hires', of: ['all'] },
  { key: 'sprites.vtt', of: ['all'] },
] as const;

/** `*` is whatever there is: 304 says that it would be served, without the bytes. */
const unchanged = { headers: { 'if-none-match': '*' } };

/** `sent`: the bytes themselves. `known`: whether they would be, and the other renditions too. */
async function lookAtBytes(caller: Caller, cell: AssetCell, switches: Switches, how: 'sent' | 'known') {
  const who = caller.standing;
  const refusal = refusalAt(who, caller.scopes, readDoor, switches);
  const served = isServed(who, cell, switches);
  const [sent, done] = how === 'sent' ? [{}, 200] : [unchanged, 304];
  const hold = async (path: string, isThere: boolean) => {
    const { status } = await caller.visitor.send(`/assets/${cell.id}/${path}`, sent);
    ledger.hold(`${caller.name}: ${path}: ${labelOfAsset(cell)}`, status, refusal ?? (isThere ? done : 404));
  };
  for (const { key, of } of how === 'known' ? [cover, ...others] : [cover]) {
    await hold(`variants/${key}`, served && of.some((one) => one === cell.rendered));
  }
  await hold('file', served);
}

/** Posts were made one after the other, in the order of this list. */
const newestFirst = (posts: readonly PostCell[]) => [...posts].reverse();

async function lookAtUsage(caller: Caller, cell: AssetCell, missing: Answered, switches: Switches) {
  const who = caller.standing;
  const { status, text } = await caller.visitor.send(`/assets/${cell.id}/posts`);
  const door = { door: 'signedIn', scope: 'read' } as const;
  const label = `${caller.name}: GET /assets/{id}/posts: ${labelOfAsset(cell)}`;
  const refusal = refusalAt(who, caller.scopes, door, switches);
  if (refusal !== null || !readsUsage(who, cell)) {
    ledger.hold(label, status, refusal ?? 404);
    ledger.hold(`${label}: to the byte`, text, missing.text);
    return;
  }
  ledger.hold(label, status, 200);
  if (status !== 200) return;
  const live = newestFirst(world.posts.filter((post) => !post.deleted && hasAsset(cell)(post)));
  const readable = live.filter((post) => readsPost(who, post));
  const usage: { items: SeenPost[]; withheld_count: number } = JSON.parse(text);
  const due = readable.map((post) => duePost(who, post, switches, true));
  ledger.hold(label, usage.items.map(lookOfPost).join('\n\n'), due.join('\n\n'));
  ledger.hold(`${label}: withheld_count`, usage.withheld_count, live.length - readable.length);
  ledger.hold(`${label}: nothing else`, Object.keys(usage).sort().join(), 'items,withheld_count');
}

async function lookByAsset(caller: Caller, cell: AssetCell, switches: Switches) {
  const who = caller.standing;
  const { status, text } = await caller.visitor.send(`/posts/by-asset/${cell.id}`);
  const label = `${caller.name}: GET /posts/by-asset/{id}: ${labelOfAsset(cell)}`;
  const refusal = refusalAt(who, caller.scopes, readDoor, switches);
  ledger.hold(`${label}: status`, status, refusal ?? 200);
  if (status !== 200) return;
  const seen: SeenPost[] = JSON.parse(text);
  const due = newestFirst(world.posts.filter((post) => hasAsset(cell)(post) && isShared(who, post)));
  const looks = due.map((post) => duePost(who, post, switches, true));
  ledger.hold(label, seen.map(lookOfPost).join('\n\n'), looks.join('\n\n'));
}

// Collections --------------------------------------------------------------------

/** The list: which are there, what each counts, and whose pictures stand for it. */
async function lookAtCollections(caller: Caller, switches: Switches) {
  const items = await everyItem<SeenCollection>(ledger, caller, '/collections', '', switches);
  if (items === null) return;
  const who = caller.standing;
  const seen = new Map(items.map((item) => [item.id, lookOfCollection(item)]));
  for (const cell of world.collections) {
    const due = readsCollection(who, cell) ? dueCollection(who, cell, switches) : 'absent';
    ledger.hold(
      () => `${caller.name}: /collections: ${labelOfCollection(cell)}`,
      seen.get(cell.id) ?? 'absent',
      due,
    );
  }
  const due = world.collections.filter((cell) => readsCollection(who, cell)).length;
  ledger.hold(`${caller.name}: /collections: how many, each once`, items.length, due);
}

/** One collection, its posts in their order, and the feed narrowed to it. */
async function lookAtCollection(caller: Caller, cell: CollectionCell, switches: Switches) {
  const who = caller.standing;
  const label = () => `${caller.name}: ${labelOfCollection(cell)}`;
  const isOpen = readsCollection(who, cell);
  const refusal = refusalAt(who, caller.scopes, readDoor, switches);
  const { status, text } = await caller.visitor.send(`/collections/${cell.id}`);
  ledger.hold(label, status, refusal ?? (isOpen ? 200 : 404));
  if (status === 200)
    ledger.hold(label, lookOfCollection(JSON.parse(text)), dueCollection(who, cell, switches));
  const rule = (one: Standing, post: PostCell) => isOpen && isInFeed(one, post);
  await lookAtFeed(caller, { query: `collection=${cell.id}`, cells: cell.posts, rule }, switches);
  const path = `/collections/${cell.id}/posts` as const;
  if (refusal !== null || !isOpen) {
    ledger.hold(() => `${label()}: posts`, (await caller.visitor.send(path)).status, refusal ?? 404);
    return;
  }
  const items = await everyItem<SeenPost>(ledger, caller, path, '', switches);
  const due = cell.posts.filter((post) => isInFeed(who, post));
  const looks = due.map((post) => dueInFeed(who, post, switches));
  ledger.hold(() => `${label()}: posts`, (items ?? []).map(lookOfPost).join('\n\n'), looks.join('\n\n'));
}

/** Every operation on a collection that changes nothing when it is allowed. */
function collectionProbes(): Probe<CollectionCell>[] {
  const sharee = world.refOf('sharee');
  const due = (who: Standing, cell: CollectionCell, done: number) =>
    changing(readsCollection(who, cell), editsCollection(who, cell), done);
  const reading = { method: 'GET', door: 'signedIn', scope: 'read' } as const;
  return [
    { ...reading, path: ({ id }) => `/collections/${id}/shares`, due: (who, cell) => due(who, cell, 200) },
    {
      ...reading,
      path: ({ id }) => `/collections/${id}/shares/${sharee}`,
      due: (who, cell) => due(who, cell, 200),
    },
    {
      ...posting,
      method: 'PUT',
      path: ({ id }) => `/collections/${id}/shares/${sharee}`,
      due: (who, cell) => due(who, cell, 200),
    },
    {
      ...posting,
      method: 'PATCH',
      path: ({ id }) => `/collections/${id}`,
      body: {},
      due: (who, cell) => due(who, cell, 200),
    },
    // What is in it already stays where it is; what the caller does not read is a 404 for them.
    {
      ...posting,
      method: 'PUT',
      path: ({ id, posts }) => `/collections/${id}/posts/${posts[0]?.id}`,
      due: (who, cell) => {
        const first = must(cell.posts[0], 'post');
        return due(who, cell, readsPost(who, first) ? 204 : 404);
      },
    },
    {
      ...posting,
      method: 'DELETE',
      path: ({ id }) => `/collections/${id}/posts/00000000-0000-4000-8000-0000000000ff`,
      due: (who, cell) => due(who, cell, 204),
    },
  ];
}

// Trash --------------------------------------------------------------------------

type Thing =
  | { kind: 'post'; cell: PostCell }
  | { kind: 'asset'; cell: AssetCell }
  | { kind: 'collection'; cell: CollectionCell };
const deletedThings = (): Thing[] => [
  ...world.posts.filter(({ deleted }) => deleted).map((cell): Thing => ({ kind: 'post', cell })),
  ...world.assets.filter(({ deleted }) => deleted).map((cell): Thing => ({ kind: 'asset', cell })),
  ...world.collections.filter(({ deleted }) => deleted).map((cell): Thing => ({ kind: 'collection', cell })),
];

const refOfPerson = (thing: Thing) =>
  world.refs[thing.kind === 'post' ? thing.cell.author : thing.cell.owner];
const refOfDeleter = ({ cell }: Thing) => (cell.deletedBy === null ? null : world.refOf(cell.deletedBy));

/** spec 4.10. */
function undoes(caller: Caller, thing: Thing): boolean {
  return undoAnyDelete.includes(caller.standing) || refOfDeleter(thing) === caller.ref;
}

const scopes = [
  { scope: 'owned_by_me', refOf: refOfPerson },
  { scope: 'deleted_by_me', refOf: refOfDeleter },
] as const;

async function lookAtTrash(caller: Caller, switches: Switches) {
  const door = { door: 'signedIn', scope: 'read' } as const;
  for (const { scope, refOf } of scopes) {
    type Item = { kind: string; id: string; restorable: boolean };
    const query = `scope=${scope}`;
    const items = await everyItem<Item>(ledger, caller, '/account/trash', query, switches, door);
    if (items === null) continue;
    const seen = new Map(items.map(({ kind, id, restorable }) => [id, `${kind}, restorable ${restorable}`]));
    let due = 0;
    for (const thing of deletedThings()) {
      const isMine = refOf(thing) === caller.ref;
      if (isMine) due += 1;
      const look = isMine ? `${thing.kind}, restorable ${undoes(caller, thing)}` : 'absent';
      ledger.hold(() => `${caller.name}: trash ${scope}`, seen.get(thing.cell.id) ?? 'absent', look);
    }
    ledger.hold(`${caller.name}: trash ${scope}: how many, each once`, items.length, due);
  }
}

async function putBack({ kind, cell }: Thing): Promise<void> {
  const deleter = cell.deletedBy === null ? null : world.refOf(cell.deletedBy);
  const change = { deleted_at: '2026-01-01T00:00:00.000Z', deleted_by_user_ref: deleter };
  const { db } = world.library.deps;
  if (kind === 'post') await db.updateTable('posts').set(change).where('id', '=', cell.id).execute();
  else if (kind === 'asset') await db.updateTable('assets').set(change).where('id', '=', cell.id).execute();
  else await db.updateTable('collections').set(change).where('id', '=', cell.id).execute();
}

function trashed(): Thing[] {
  const posts = world.sample
    .filter(({ deleted }, index) => deleted || index % 6 === 0)
    .map((cell): Thing => ({ kind: 'post', cell }));
  const assets = world.assets.filter(({ team }) => team === 'team').slice(0, 12);
  return [
    ...posts,
    ...assets.map((cell): Thing => ({ kind: 'asset', cell })),
    ...world.collections.map((cell): Thing => ({ kind: 'collection', cell })),
  ];
}

async function tryToRestore(caller: Caller, thing: Thing, switches: Switches) {
  const { kind, cell } = thing;
  const who = caller.standing;
  const { status } = await caller.visitor.send(`/admin/${kind}s/${cell.id}/restore`, { method: 'POST' });
  const scope = kind === 'asset' ? 'assets.write' : 'posts.write';
  const refusal = refusalAt(who, caller.scopes, { door: 'signedIn', scope }, switches);
  const due = refusal ?? (!cell.deleted ? 404 : undoes(caller, thing) ? 204 : 403);
  ledger.hold(`${caller.name}: restore a ${kind} deleted by ${cell.deletedBy}`, status, due);
  if (status === 204) await putBack(thing);
}

async function tryToAppeal(caller: Caller, thing: Thing, switches: Switches) {
  const { kind, cell } = thing;
  const path = `/account/trash/${kind}/${cell.id}/request-restore`;
  const { status } = await caller.visitor.send(path, { method: 'POST' });
  const refusal = refusalAt(caller.standing, caller.scopes, { door: 'signedIn', scope: 'admin' }, switches);
  const isMine = cell.deleted && refOfPerson(thing) === caller.ref;
  const due = refusal ?? (!isMine ? 404 : undoes(caller, thing) ? 409 : 201);
  // Asked before, by another way in.
  const answered = status === 200 && due === 201 ? 201 : status;
  ledger.hold(`${caller.name}: appeal for a ${kind} deleted by ${cell.deletedBy}`, answered, due);
}

// What is really done --------------------------------------------------------------

/** Rows of their own for whoever may really change, move, delete and restore. */
async function throwaways(): Promise<{ posts: PostCell[]; assets: AssetCell[] }> {
  const { db } = world.library.deps;
  const posts: PostCell[] = [];
  const assets: AssetCell[] = [];
  const samplePost = must(world.sample[0], 'sample');
  const sampleAsset = must(world.assets[0], 'asset');
  for (const team of teams.filter((name) => name !== 'elsewhere')) {
    const states = [
      { visibility: 'private', draft: false },
      { visibility: 'private', draft: true },
      { visibility: 'public', draft: false },
    ] as const;
    for (const state of team === 'none' ? states : states.slice(0, 2)) {
      const { id } = await db
        .insertInto('posts')
        .values({
          author_user_ref: must(world.refs.author, 'author'),
          team_id: world.teamIds.get(team) ?? null,
          visibility: state.visibility,
          state_id: state.draft ? WIP : PUBLISHED,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const comment = await db
        .insertInto('comments')
        .values({ post_id: id, author_user_ref: world.refOf(commentAuthor), body: 'mine' })
        .returning('id')
        .executeTakeFirstOrThrow();
      const board = await db
        .insertInto('whiteboards')
        .values({
          post_id: id,
          author_user_ref: world.refOf(commentAuthor),
          strokes: JSON.stringify([{ points: [[0, 0]] }]),
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const none = { roots: [], reply: '', deletedRoot: '' };
      const thread = { ...none, byCommenter: comment.id, board: board.id, count: 1 };
      posts.push({ ...samplePost, id, team, ...state, deleted: false, members: [], thread });
    }
    const looks = [
      { sensitivity: 'restricted', status: 'active' },
      { sensitivity: 'public', status: 'draft' },
    ] as const;
    for (const { sensitivity, status } of looks) {
      const { id } = await db
        .insertInto('assets')
        .values({
          owner_user_ref: world.refs.owner,
          asset_type: 1,
          file_hash: world.hash,
          file_name: 'a.jpg',
          team_id: world.teamIds.get(team) ?? null,
          processing_status: 'ready',
          status,
          sensitivity,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const state = { team, sensitivity, status, deleted: false, mature: false };
      assets.push({ ...sampleAsset, ...state, id, processing: 'ready', owner: 'owner' });
    }
  }
  return { posts, assets };
}

async function removeThrowaways(posts: readonly PostCell[], assets: readonly AssetCell[]): Promise<void> {
  const { db } = world.library.deps;
  const ids = (cells: readonly { id: string }[]) => cells.map(({ id }) => id);
  await db.deleteFrom('posts').where('id', 'in', ids(posts)).execute();
  await db.deleteFrom('assets').where('id', 'in', ids(assets)).execute();
}

async function workOnPost(caller: Caller, cell: PostCell, switches: Switches) {
  const label = labelOfPost(cell);
  const step = (probe: Probe<PostCell>) => ask(caller, probe, cell, label, switches);
  await step({
    ...posting,
    method: 'PATCH',
    path: ({ id }) => `/posts/${id}`,
    body: { title: 'another' },
    due: (who, post) => changingPost(who, post, 200),
  });
  await step({
    ...commenting,
    method: 'POST',
    path: ({ id }) => `/posts/${id}/comments`,
    body: { body: 'well' },
    due: (who, post) => (!readsPost(who, post) ? 404 : post.draft ? 409 : 201),
  });
  await step({
    ...posting,
    method: 'POST',
    path: ({ id }) => `/posts/${id}/whiteboards`,
    body: { strokes: [{ points: [[0, 0]] }] },
    due: (who, post) => (readsPost(who, post) ? 201 : 404),
  });
  await step({
    ...posting,
    method: 'POST',
    path: ({ id }) => `/posts/${id}/like`,
    due: (who, post) => reading(who, post),
  });
  const takingAway = (who: Standing, post: PostCell) => {
    const takesAway = readsPost(who, post) && (who === commentAuthor || editsPost(who, post));
    return changing(readsPost(who, post), takesAway, 204);
  };
  await step({
    ...commenting,
    method: 'DELETE',
    path: (post) => `/comments/${threadOf(post).byCommenter}`,
    due: takingAway,
  });
  await step({
    ...posting,
    method: 'DELETE',
    path: (post) => `/whiteboards/${threadOf(post).board}`,
    due: takingAway,
  });
  await step({
    ...posting,
    method: 'POST',
    path: ({ id, draft }) => `/posts/${id}/${draft ? 'publish' : 'unpublish'}`,
    due: (who, post) => changingPost(who, post, 200),
  });
  await step({
    ...posting,
    method: 'DELETE',
    path: ({ id }) => `/posts/${id}`,
    due: (who, post) => changingPost(who, post, 204),
  });
  // Whoever deleted it may undo that; for everybody else it is live still.
  await step({
    ...posting,
    method: 'POST',
    path: ({ id }) => `/admin/posts/${id}/restore`,
    due: (who, post) => (editsPost(who, post) ? 204 : 404),
  });
}

async function workOnAsset(caller: Caller, cell: AssetCell, switches: Switches) {
  const writing = { door: 'signedIn', scope: 'assets.write' } as const;
  const step = (probe: Probe<AssetCell>) => ask(caller, probe, cell, labelOfAsset(cell), switches);
  await step({
    ...writing,
    method: 'PATCH',
    path: ({ id }) => `/assets/${id}`,
    body: { title: 'another' },
    due: (who, asset) => changingAsset(who, asset, 200),
  });
  await step({
    ...writing,
    method: 'DELETE',
    path: ({ id }) => `/assets/${id}`,
    due: (who, asset) => changingAsset(who, asset, 204),
  });
  await step({
    ...writing,
    method: 'POST',
    path: ({ id }) => `/admin/assets/${id}/restore`,
    due: (who, asset) => (editsAsset(who, asset) ? 204 : 404),
  });
}

// The matrix -----------------------------------------------------------------------

describe.each(names)('access matrix, public mode on and mature content allowed: %s', (name) => {
  let caller: Caller;
  beforeAll(async () => {
    caller = callerOf(name);
    await setSwitches(usual);
  });

  test('the feed has every post it should and no other, each as it should look', async () => {
    await lookAtFeed(caller, { query: '', cells: world.posts, rule: isInFeed }, usual);
    everythingHolds();
  });

  test('the list of drafts has every draft it should and no other', async () => {
    await lookAtFeed(caller, { query: 'draft=true', cells: world.posts, rule: isInDrafts }, usual);
    everythingHolds();
  });

  test('the feed by order, tag, author, team, asset, likes and follows, and with the trash', async () => {
    await together(portion(caller, narrowedFeeds(), standings), (feed) => lookAtFeed(caller, feed, usual));
    everythingHolds();
  });

  test('one post: members, placeholders, cover, comments, likes, whiteboards, shares, edits', async () => {
    const gallery = world.posts.filter(({ tag }) => tag === 'gallery');
    await together([...portion(caller, world.sample, byPosts), ...gallery], (cell) =>
      lookAtPost(caller, cell, usual),
    );
    await together(portion(caller, world.sample, byPosts), (cell) => lookAtThread(caller, cell, usual));
    const sample = portion(caller, world.sample, byPosts);
    await askInTurns(caller, postProbes(), sample, labelOfPost);
    await askInTurns(caller, deletedCommentProbes(), sample.slice(0, 4), labelOfPost);
    everythingHolds();
  });

  test('the list of assets has every row it should, withheld ones as placeholders', async () => {
    await lookAtShelf(caller, { query: '', cells: world.assets, filtered: false }, usual);
    await together(portion(caller, filteredShelves(), standings), (shelf) =>
      lookAtShelf(caller, shelf, usual),
    );
    everythingHolds();
  });

  test('one asset: its columns, its bytes and renditions, and that the flags say the same', async () => {
    const own = world.assets.filter(
      ({ team, owner, deleted }, index) =>
        owner !== 'owner' || (team === 'team' && (!deleted || index % 5 === 0)),
    );
    const rest = world.assets.filter(
      ({ team, deleted, status, processing }) =>
        team !== 'team' && !deleted && status === 'active' && processing === 'ready',
    );
    const cells = portion(caller, [...own, ...rest], byAssets);
    await together(cells, (cell) => lookAtAsset(caller, cell, usual));
    await together(cells, (cell) =>
      lookAtBytes(caller, cell, usual, cell.sensitivity === 'public' || cell.mature ? 'sent' : 'known'),
    );
    const unrated = cells.filter(({ mature }) => !mature);
    await askInTurns(caller, assetProbes(), unrated, labelOfAsset);
    everythingHolds();
  });

  test('where an asset appears: the usage view with its count, and the posts by asset', async () => {
    const missing = await caller.visitor.send('/assets/00000000-0000-4000-8000-0000000000ff/posts');
    const cells = world.assets.filter(({ team, mature }) => team === 'team' && !mature);
    const others = world.assets.filter(({ team, deleted, status, processing }) => {
      return team !== 'team' && !deleted && status === 'active' && processing === 'ready';
    });
    await together(portion(caller, [...cells, ...others], byAssets), (cell) =>
      lookAtUsage(caller, cell, missing, usual),
    );
    const byAsset = [...cells, ...others].filter((_, index) => index % 3 === 0);
    await together(portion(caller, byAsset, byPosts), (cell) => lookByAsset(caller, cell, usual));
    everythingHolds();
  });

  test('collections: which are there, what they hold, count and look like, for whom', async () => {
    await lookAtCollections(caller, usual);
    const cells = portion(caller, world.collections, byPosts);
    await together(cells, (cell) => lookAtCollection(caller, cell, usual));
    await askInTurns(caller, collectionProbes(), cells, labelOfCollection);
    everythingHolds();
  });

  test('the trash: what is listed, what can be restored, what can be asked for', async () => {
    await lookAtTrash(caller, usual);
    const rows = portion(caller, trashed(), byPosts);
    await together(rows, (thing) => tryToAppeal(caller, thing, usual));
    await together(rows, (thing) => tryToRestore(caller, thing, usual));
    everythingHolds();
  });

  test('what may be changed, moved, deleted and restored is; what may not is not', async () => {
    const { posts, assets } = await throwaways();
    await together(portion(caller, posts, byPosts), (cell) => workOnPost(caller, cell, usual));
    await together(portion(caller, assets, byAssets), (cell) => workOnAsset(caller, cell, usual));
    await removeThrowaways(posts, assets);
    everythingHolds();
  });
});

const otherwise: Switches[] = [
  { publicMode: true, matureAllowed: false },
  { publicMode: false, matureAllowed: true },
  { publicMode: false, matureAllowed: false },
];

describe.each(otherwise)(
  'access matrix, public mode $publicMode and mature content $matureAllowed',
  (switches) => {
    beforeAll(() => setSwitches(switches));

    test.each(names)('%s: feed, drafts, assets, bytes', async (name) => {
      const caller = callerOf(name);
      const gallery = world.posts.filter(({ tag }) => tag === 'gallery');
      await lookAtFeed(caller, { query: 'tag=gallery', cells: gallery, rule: isInFeed }, switches);
      const sample = world.posts.filter(({ tag }) => tag === 'sample');
      await lookAtFeed(caller, { query: 'tag=sample', cells: sample, rule: isInFeed }, switches);
      await lookAtFeed(caller, { query: 'tag=sample&draft=true', cells: sample, rule: isInDrafts }, switches);
      await lookAtShelf(caller, { query: '', cells: world.assets, filtered: false }, switches);
      await lookAtCollections(caller, switches);
      await together(world.collections.slice(0, 3), (cell) => lookAtCollection(caller, cell, switches));
      const rated = world.assets.filter(
        ({ team, mature, deleted, status, processing }) =>
          team === 'team' && mature && !deleted && status === 'active' && processing === 'ready',
      );
      await together(rated, (cell) => lookAtBytes(caller, cell, switches, 'sent'));
      await together(world.sample.slice(0, 3), (cell) => lookAtPost(caller, cell, switches));
      await together(rated.slice(0, 1), (cell) => lookByAsset(caller, cell, switches));
      if (refusalAt(caller.standing, caller.scopes, readDoor, switches) !== null) {
        const probes = postProbes();
        const cell = must(world.sample[0], 'sample');
        for (const probe of probes) await ask(caller, probe, cell, labelOfPost(cell), switches);
        for (const probe of assetProbes()) {
          const asset = must(rated[0], 'asset');
          await ask(caller, probe, asset, labelOfAsset(asset), switches);
        }
      }
      everythingHolds();
    });
  },
);

test('a cookie that stands for nobody is an anonymous visitor', async () => {
  await setSwitches({ publicMode: false, matureAllowed: true });
  const visitor = visit(world.library.address, {}, 'x'.repeat(43));
  const post = must(world.sample[0], 'sample');
  expect((await visitor.send(`/posts/${post.id}`)).status).toBe(401);
  await setSwitches(usual);
  expect((await visitor.send(`/posts/${post.id}`)).status).toBe(200);
});

test('at least 20,000 cells were compared', () => {
  console.log(`access matrix: ${ledger.compared()} cells compared`);
  expect(ledger.compared()).toBeGreaterThanOrEqual(20_000);
});

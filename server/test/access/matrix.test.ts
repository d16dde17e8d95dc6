import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visit } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import {
  type Annotated,
  addAnnotations,
  discusses,
  removeAnnotations,
  seesMember,
} from './annotated-world.ts';
import { must } from './cells.ts';
import { type AssetCell, isInDrafts, isInFeed, refusalAt, type Switches } from './due.ts';
import { openLedger } from './ledger.ts';
import { byAssets, byPosts, callerKinds } from './matrix.ts';
import {
  ask,
  askInTurns,
  labelOfAsset,
  labelOfCollection,
  labelOfPost,
  readDoor,
  together,
} from './send-requests.ts';
import {
  asksAll,
  everythingHolds,
  type Matrix,
  POOL,
  portion,
  seedOf,
  setSwitches,
  singleAssets,
  usual,
} from './setting.ts';
import {
  lookAtAssetExports,
  lookAtDrawing,
  lookAtSheets,
  lookAtTable,
} from './surfaces/annotation-exports.ts';
import {
  listenToAnnotations,
  lookAtAnnotations,
  lookAtStreams,
  tryOnNote,
  tryToAnnotate,
} from './surfaces/annotations.ts';
import { assetProbes, filteredShelves, lookAtAsset, lookAtBytes, lookAtShelf } from './surfaces/assets.ts';
import { lookAtBatches } from './surfaces/batches.ts';
import { lookAtCounts } from './surfaces/browsing.ts';
import { removeThrowaways, throwaways, workOnAsset, workOnPost } from './surfaces/changes.ts';
import {
  collectionProbes,
  lookAtCollection,
  lookAtCollections,
  lookAtHolders,
} from './surfaces/collections.ts';
import { lookAtCsv } from './surfaces/csv.ts';
import { lookAtDuplicates } from './surfaces/duplicates.ts';
import { lookAtFeed, narrowedFeeds } from './surfaces/feeds.ts';
import { lookThroughLinks } from './surfaces/links.ts';
import { deletedCommentProbes, lookAtPost, lookAtThread, postProbes } from './surfaces/posts.ts';
import {
  addReviews,
  lookAtReviews,
  type ReviewCell,
  removeReviews,
  tryApprovals,
  tryReviews,
} from './surfaces/reviews.ts';
import { lookAtTrash, trashed, tryToAppeal, tryToRestore } from './surfaces/trash.ts';
import { lookAtUsage, lookByAsset } from './surfaces/usage.ts';
import { type Caller, disguiseNames, makeWorld } from './world.ts';

/**
 * What every caller sees of posts, assets, collections and the trash (surfaces/). described.test.ts covers what callers
 * learn about them elsewhere.
 */
const names = [...callerKinds, ...disguiseNames];

const world = await makeWorld(await openLibrary({}, { connections: POOL }));
const matrix: Matrix = { world, ledger: openLedger() };

const callerOf = (name: string): Caller => must(matrix.world.callers.get(name), name);

describe.each(names)('access matrix, public mode on and mature content allowed: %s', (name) => {
  let caller: Caller;
  let single: readonly AssetCell[];
  beforeAll(async () => {
    caller = callerOf(name);
    single = singleAssets(caller, matrix.world.assets);
    await setSwitches(matrix, usual);
  });

  // FEED-1, FEED-2, FEED-3, FEED-4, FEED-5, POST-7, POST-21
  test('the feed contains exactly the readable posts, each with the expected properties', async () => {
    await lookAtFeed(matrix, caller, { query: '', cells: matrix.world.posts, rule: isInFeed }, usual);
    everythingHolds(matrix);
  });

  // POST-8, POST-9
  test('the list of drafts contains exactly the readable drafts', async () => {
    await lookAtFeed(
      matrix,
      caller,
      { query: 'draft=true', cells: matrix.world.posts, rule: isInDrafts },
      usual,
    );
    everythingHolds(matrix);
  });

  // FEED-10
  test('the feed respects access for every order and filter, and with deleted posts', async () => {
    await together(portion(caller, narrowedFeeds(matrix), callerKinds), (feed) =>
      lookAtFeed(matrix, caller, feed, usual),
    );
    everythingHolds(matrix);
  });

  // COMMENT-3, POST-2, POST-3, POST-5, POST-8, POST-22, POST-38
  test('a post shows each caller the right members, cover, comments, likes, whiteboards, shares and edits', async () => {
    const gallery = matrix.world.posts.filter(({ tag }) => tag === 'gallery');
    await together([...portion(caller, matrix.world.sample, byPosts), ...gallery], (cell) =>
      lookAtPost(matrix, caller, cell, usual),
    );
    await together(portion(caller, matrix.world.sample, byPosts), (cell) =>
      lookAtThread(matrix, caller, cell, usual),
    );
    const sample = portion(caller, matrix.world.sample, byPosts);
    await askInTurns(matrix, caller, postProbes(matrix), sample, labelOfPost);
    await askInTurns(matrix, caller, deletedCommentProbes(), sample.slice(0, 4), labelOfPost);
    everythingHolds(matrix);
  });

  // BROWSE-1, BROWSE-5
  test('timeline and map count exactly the assets that are shown', async () => {
    await lookAtCounts(matrix, caller, usual);
    everythingHolds(matrix);
  });

  // ASSET-1
  test('the list of assets contains exactly the visible rows, with placeholders for withheld ones', async () => {
    await lookAtShelf(matrix, caller, { query: '', cells: matrix.world.assets, filtered: false }, usual);
    await together(portion(caller, filteredShelves(matrix), callerKinds), (shelf) =>
      lookAtShelf(matrix, caller, shelf, usual),
    );
    everythingHolds(matrix);
  });

  // ASSET-2, ASSET-4, ASSET-6, ASSET-31
  test('an asset shows each caller the right columns, bytes, renditions and flags', async () => {
    // Half of them as a row and the others as bytes, in turns: each is decisive for several callers.
    const inTurn = single.map((cell, place) => ({ cell, turn: place + seedOf(caller) }));
    const [asRow, asBytes] = [0, 1].map((half) => inTurn.filter(({ turn }) => asksAll || turn % 2 === half));
    await together(asRow ?? [], ({ cell }) => lookAtAsset(matrix, caller, cell, usual));
    await together(asBytes ?? [], ({ cell, turn }) =>
      lookAtBytes(
        matrix,
        caller,
        cell,
        usual,
        cell.sensitivity === 'public' || cell.mature ? 'sent' : 'known',
        Math.floor(turn / 2),
      ),
    );
    const unrated = single.filter(({ mature }) => !mature);
    await askInTurns(matrix, caller, assetProbes(), unrated, labelOfAsset, 10);
    everythingHolds(matrix);
  });

  // POST-39, POST-40, POST-41
  test('the usage of an asset lists and counts only readable posts', async () => {
    const missing = await caller.visitor.send('/assets/00000000-0000-4000-8000-0000000000ff/posts');
    const asked = single.filter((_, index) => index % 2 === 0);
    await together(asked, (cell) => lookAtUsage(matrix, caller, cell, missing, usual));
    const used = asked.filter(({ usedBy }) => usedBy.length > 0);
    await together(used, (cell) => lookByAsset(matrix, caller, cell, usual));
    everythingHolds(matrix);
  });

  // COLLECTION-1
  test('collections show each caller the right visibility, content, counts and covers', async () => {
    await lookAtCollections(matrix, caller, usual);
    const cells = portion(caller, matrix.world.collections, byPosts);
    await together(cells, (cell) => lookAtCollection(matrix, caller, cell, usual));
    // Repeats existing shares; other objects remain unshared.
    const shared = cells.filter(({ unshared }) => unshared !== true);
    await askInTurns(matrix, caller, collectionProbes(matrix), shared, labelOfCollection);
    const held = matrix.world.collections[0]?.posts.filter((_, index) => index % 3 === 0) ?? [];
    await together(portion(caller, held, byPosts), (post) => lookAtHolders(matrix, caller, post, usual));
    everythingHolds(matrix);
  });

  // TRASH-1
  test('the trash lists exactly what the caller may restore or request', async () => {
    await lookAtTrash(matrix, caller, usual);
    const rows = portion(caller, trashed(matrix), byPosts);
    await together(rows, (thing) => tryToAppeal(matrix, caller, thing, usual));
    await together(rows, (thing) => tryToRestore(matrix, caller, thing, usual));
    everythingHolds(matrix);
  });

  // BATCH-3
  test('a change of many objects concerns exactly those that the caller may edit', async () => {
    await lookAtBatches(matrix, caller);
    await lookAtCsv(matrix, caller);
    await lookAtDuplicates(matrix, caller);
    everythingHolds(matrix);
  });

  test('changes, publications, deletes and restores succeed exactly where allowed', async () => {
    const { posts, assets } = await throwaways(matrix);
    await together(portion(caller, posts, byPosts), (cell) => workOnPost(matrix, caller, cell, usual));
    await together(portion(caller, assets, byAssets), (cell) => workOnAsset(matrix, caller, cell, usual));
    await removeThrowaways(matrix, posts, assets);
    everythingHolds(matrix);
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
    beforeAll(() => setSwitches(matrix, switches));

    test.each(names)('%s: feed, drafts, assets, bytes', async (name) => {
      const caller = callerOf(name);
      const { assets, collections, posts, sample } = matrix.world;
      const isRefused = refusalAt(caller.kind, caller.scopes, readDoor, switches) !== null;
      const gallery = posts.filter(({ tag }) => tag === 'gallery');
      const rated = assets.filter(
        ({ team, mature, deleted, status, processing }) =>
          team === 'team' && mature && !deleted && status === 'active' && processing === 'ready',
      );
      await lookAtFeed(matrix, caller, { query: 'tag=gallery', cells: gallery, rule: isInFeed }, switches);
      await together(portion(caller, rated, byAssets), (cell) =>
        lookAtBytes(matrix, caller, cell, switches, 'sent'),
      );
      // Public mode does not affect signed-in callers.
      if (!switches.publicMode && !isRefused) return everythingHolds(matrix);
      const tagged = posts.filter(({ tag }) => tag === 'sample');
      const draft = 'tag=sample&draft=true';
      await lookAtFeed(matrix, caller, { query: 'tag=sample', cells: tagged, rule: isInFeed }, switches);
      await lookAtFeed(matrix, caller, { query: draft, cells: tagged, rule: isInDrafts }, switches);
      await lookAtShelf(matrix, caller, { query: '', cells: assets, filtered: false }, switches);
      await lookAtCollections(matrix, caller, switches);
      await together(collections.slice(0, 3), (cell) => lookAtCollection(matrix, caller, cell, switches));
      await together(sample.slice(0, 3), (cell) => lookAtPost(matrix, caller, cell, switches));
      await together(rated.slice(0, 1), (cell) => lookByAsset(matrix, caller, cell, switches));
      if (isRefused) {
        const cell = must(sample[0], 'sample');
        for (const probe of postProbes(matrix))
          await ask(matrix, caller, probe, cell, labelOfPost(cell), switches);
        const asset = must(rated[0], 'asset');
        for (const probe of assetProbes())
          await ask(matrix, caller, probe, asset, labelOfAsset(asset), switches);
      }
      everythingHolds(matrix);
    });
  },
);

// ANNOTATION-5, REVIEW-3
describe('access matrix, annotations', () => {
  let annotated: Annotated;
  const callers = names.map(callerOf);
  /** Half of the portion, by turns: a rule of annotations shows in every post. */
  const some = <T>(caller: Caller, cells: readonly T[]) =>
    portion(caller, cells, callerKinds).filter((_, index) => asksAll || (index + seedOf(caller)) % 2 === 0);
  const assetsOf = ({ notes }: Annotated) => [...new Set(notes.map(({ asset }) => asset))];

  beforeAll(async () => {
    await setSwitches(matrix, usual);
    annotated = await addAnnotations(matrix);
  });
  afterAll(() => removeAnnotations(matrix));

  // ANNOTATION-4, ANNOTATION-6, ANNOTATION-7, ANNOTATION-8, ANNOTATION-9
  test.each(names)('%s: threads, counts, replies, resolutions, assignments', async (name) => {
    const caller = callerOf(name);
    const { posts, notes } = annotated;
    await together(some(caller, posts), (post) => lookAtAnnotations(matrix, annotated, caller, post, usual));
    await together(some(caller, notes), (note) => tryOnNote(matrix, annotated, caller, note, usual));
    everythingHolds(matrix);
  });

  // ANNOTATION-12, ANNOTATION-14, ANNOTATION-20
  test.each(names)('%s: exports and drawings', async (name) => {
    const caller = callerOf(name);
    const { posts, drawings } = annotated;
    const assets = assetsOf(annotated);
    await together(some(caller, posts), (post) => lookAtTable(matrix, annotated, caller, post, usual));
    await together(some(caller, assets), (asset) =>
      lookAtAssetExports(matrix, annotated, caller, asset, usual),
    );
    await together(some(caller, drawings), (note) => lookAtDrawing(matrix, annotated, caller, note, usual));
    const gallery = posts.filter(({ tag }) => tag === 'gallery');
    const post = must(gallery[seedOf(caller) % gallery.length], 'post');
    const asset = must(assets[seedOf(caller) % assets.length], 'asset');
    if (caller.scopes === null) await lookAtSheets(matrix, annotated, caller, { post, asset }, usual);
    everythingHolds(matrix);
  });

  test.each(['anonymous', 'opted in to mature', 'owner', 'sharee'])(
    '%s, public mode off and mature content forbidden: threads, exports, drawings',
    async (name) => {
      const caller = callerOf(name);
      const switches = { publicMode: false, matureAllowed: false };
      await setSwitches(matrix, switches);
      await together(annotated.posts.slice(0, 6), async (post) => {
        await lookAtAnnotations(matrix, annotated, caller, post, switches);
        await lookAtTable(matrix, annotated, caller, post, switches);
      });
      await together(assetsOf(annotated).slice(0, 8), (asset) =>
        lookAtAssetExports(matrix, annotated, caller, asset, switches),
      );
      await together(annotated.drawings.slice(0, 16), (note) =>
        lookAtDrawing(matrix, annotated, caller, note, switches),
      );
      await setSwitches(matrix, usual);
      everythingHolds(matrix);
    },
  );

  // ANNOTATION-10
  test('the events of a post reach exactly those who are shown the file', async () => {
    const post = must(annotated.posts[0], 'post');
    const [first, last] = post.members;
    const about = { post, first: must(first, 'member'), last: must(last, 'member') };
    // Everyone without a token who is sent the last annotation, visitors included.
    const listeners = callers.filter(
      ({ scopes, kind }) =>
        scopes === null && seesMember(annotated, kind, about.last) && discusses(annotated, kind, post),
    );
    // Opens a few streams at a time, because each is told about every other viewer.
    for (let from = 0; from < listeners.length; from += 6)
      await listenToAnnotations(matrix, annotated, listeners.slice(from, from + 6), about);
    await together(callers, (caller) => {
      const posts = portion(caller, annotated.posts, callerKinds);
      return lookAtStreams(
        matrix,
        annotated,
        caller,
        posts.filter((_, index) => index % 10 === 0),
      );
    });
    everythingHolds(matrix);
  });

  // ANNOTATION-1
  test('files are annotated exactly by those who are shown them in a post that they read or review', async () => {
    await together(callers, async (caller) => {
      for (const post of portion(caller, annotated.posts, callerKinds))
        await tryToAnnotate(matrix, annotated, caller, post);
    });
    everythingHolds(matrix);
  });
});

describe('access matrix: reviews', () => {
  let reviews: readonly ReviewCell[] = [];
  beforeAll(async () => {
    await setSwitches(matrix, usual);
    reviews = await addReviews(matrix);
  });
  afterAll(() => removeReviews(matrix));

  // REVIEW-3, REVIEW-4, REVIEW-10
  test('are read by their reviewers and the editors of the post, and drafts under review nowhere else', async () => {
    await lookAtReviews(matrix, reviews);
    everythingHolds(matrix);
  });

  // REVIEW-1, REVIEW-2, REVIEW-5, REVIEW-6
  test('are asked for, decided in and closed exactly by those who may', async () => {
    await tryReviews(matrix, reviews);
    everythingHolds(matrix);
  });

  // APPROVAL-1, APPROVAL-2, APPROVAL-4, APPROVAL-5
  test('let links and publications pass only with the approvals that they need', async () => {
    await tryApprovals(matrix, reviews);
    everythingHolds(matrix);
  });
});

// LINK-3, LINK-8
test('a link shows a visitor its post, asset or collection while public mode is off', async () => {
  await setSwitches(matrix, { publicMode: false, matureAllowed: true });
  await lookThroughLinks(matrix);
  everythingHolds(matrix);
}, 300_000);

// SESSION-3
test('a cookie without a session makes the caller anonymous', async () => {
  await setSwitches(matrix, { publicMode: false, matureAllowed: true });
  const visitor = visit(matrix.world.library.address, {}, 'x'.repeat(43));
  const post = must(matrix.world.sample[0], 'sample');
  expect((await visitor.send(`/posts/${post.id}`)).status).toBe(401);
  await setSwitches(matrix, usual);
  expect((await visitor.send(`/posts/${post.id}`)).status).toBe(200);
});

test('at least 20,000 cells were compared', () => {
  console.log(`access matrix: ${matrix.ledger.compared()} cells compared`);
  expect(matrix.ledger.compared()).toBeGreaterThanOrEqual(20_000);
});

import { randomUUID } from 'node:crypto';
import type { AssetCell, CollectionCell, PostCell, Thread } from './due.ts';
import { processings, sensitivities, statuses, type TeamName, teams, visibilities } from './matrix.ts';
import { asksAll } from './setting.ts';

/** Every combination of states in the table of the access matrix. Nothing here needs a server. */

export interface Cells {
  assets: AssetCell[];
  posts: PostCell[];
  collections: CollectionCell[];
  /** One post of each state, and of the decisive states of each team, with a thread: for single reads. */
  sample: PostCell[];
}

export const DELETED_AT = '2026-01-01T00:00:00.000Z';

export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`no ${what}`);
  return value;
}

const open: Omit<AssetCell, 'id'> = {
  status: 'active',
  processing: 'ready',
  sensitivity: 'public',
  mature: false,
  deleted: false,
  team: 'none',
  owner: 'owner',
  rendered: 'all',
  deletedBy: null,
  usedBy: [],
  share: null,
};

function assetCell(changes: Partial<AssetCell> = {}): AssetCell {
  return { ...open, id: randomUUID(), usedBy: [], ...changes };
}

/** The accounts that delete, used in turn (TRASH-2). */
const assetDeleters = [null, 'owner', 'assets.admin', 'stranger'] as const;
const postDeleters = [null, 'author', 'posts.admin', 'stranger'] as const;
/** Returns the next of them; every second cell is deleted. */
const inTurn = <T>(deleters: readonly (T | null)[], index: number): T | null =>
  deleters[Math.floor(index / 2) % deleters.length] ?? null;

/** Sensitivities that do not depend on posts. */
const byThemselves = sensitivities.filter((sensitivity) => sensitivity !== 'posts');

/** Every state of an asset that does not depend on posts, in each of these teams. */
function everyAsset(inTeams: readonly TeamName[]): AssetCell[] {
  const cells: AssetCell[] = [];
  for (const team of inTeams) {
    for (const status of statuses) {
      for (const processing of processings) {
        for (const sensitivity of byThemselves) {
          for (const mature of [false, true]) {
            for (const deleted of [false, true]) {
              const deletedBy = deleted ? inTurn(assetDeleters, cells.length) : null;
              cells.push(assetCell({ team, status, processing, sensitivity, mature, deleted, deletedBy }));
            }
          }
        }
      }
    }
  }
  return cells;
}

/** Creates a post with these members, and records it in the members and the thumbnail. */
function postCell(members: readonly AssetCell[], changes: Partial<PostCell> = {}): PostCell {
  const cell: PostCell = {
    id: randomUUID(),
    visibility: 'public',
    draft: false,
    deleted: false,
    team: 'none',
    author: 'author',
    members,
    cover: null,
    thumbnail: null,
    hasFocal: false,
    tag: 'product',
    deletedBy: null,
    thread: null,
    ...changes,
  };
  for (const asset of [...members, ...(cell.thumbnail === null ? [] : [cell.thumbnail])])
    asset.usedBy.push(cell);
  return cell;
}

/**
 * Assets of sensitivity `posts`: in no post; in one post of each state, of the owner, the team or neither, as a member
 * or as the thumbnail; in several posts; and, in each of their own states, in a public post of the owner.
 */
function followingPosts(): { assets: AssetCell[]; posts: PostCell[] } {
  const assets: AssetCell[] = [];
  const posts: PostCell[] = [];
  const tag = 'follows';
  const follower = (changes: Partial<AssetCell> = {}) => {
    const cell = assetCell({ sensitivity: 'posts', owner: 'author', ...changes });
    assets.push(cell);
    return cell;
  };
  const places: [AssetCell['owner'], TeamName, TeamName][] = [
    ['author', 'none', 'none'],
    ['owner', 'none', 'none'],
    ['owner', 'team', 'team'],
    ['owner', 'team', 'below'],
    ['owner', 'below', 'none'],
  ];
  for (const [owner, team, postTeam] of places) {
    follower({ owner, team });
    for (const visibility of visibilities) {
      for (const [draft, deleted] of [
        [false, false],
        [true, false],
        [false, true],
      ] as const) {
        const state = { visibility, draft, deleted, tag, team: postTeam };
        posts.push(postCell([follower({ owner, team })], state));
        if (visibility === 'public' || visibility === 'followers')
          posts.push(postCell([assetAt(posts, 0)], { ...state, thumbnail: follower({ owner, team }) }));
      }
    }
  }
  const inTwo = follower();
  posts.push(
    postCell([inTwo], { tag, visibility: 'private' }),
    postCell([inTwo], { tag, visibility: 'followers' }),
  );
  const unshared = follower();
  posts.push(postCell([unshared], { tag, visibility: 'explicit-share', unshared: true }));
  for (const status of statuses) {
    for (const processing of processings) {
      posts.push(postCell([follower({ status, processing, team: 'team' })], { tag }));
      follower({ status, processing, team: 'team' });
    }
  }
  posts.push(postCell([follower({ mature: true })], { tag }));
  posts.push(
    postCell([follower({ owner: 'nobody' })], { tag }),
    postCell([follower({ owner: 'gone' })], { tag, author: 'gone' }),
  );
  return { assets, posts };
}

const assetAt = (posts: readonly PostCell[], index: number) => must(posts[index]?.members[0], 'member');

/** Assets shared with named accounts, of every sensitivity and in every state. */
function sharedAssets(): AssetCell[] {
  const cells: AssetCell[] = [];
  for (const share of ['live', 'expired'] as const) {
    for (const sensitivity of sensitivities) {
      cells.push(assetCell({ sensitivity, share }), assetCell({ sensitivity, share, mature: true }));
      cells.push(assetCell({ sensitivity, share, status: 'draft' }));
      cells.push(assetCell({ sensitivity, share, deleted: true }));
    }
  }
  return cells;
}

/** Posts with this member in every state, of which `isNeeded` may choose some. */
function everyPost(
  asset: AssetCell,
  changes: Partial<PostCell> = {},
  isNeeded: (state: Pick<PostCell, 'visibility' | 'draft' | 'deleted'>, index: number) => boolean = () =>
    true,
): PostCell[] {
  const cells: PostCell[] = [];
  let index = 0;
  for (const visibility of visibilities) {
    for (const draft of [false, true]) {
      for (const deleted of [false, true]) {
        const deletedBy = deleted ? inTurn(postDeleters, index) : null;
        if (isNeeded({ visibility, draft, deleted }, index))
          cells.push(postCell([asset], { visibility, draft, deleted, deletedBy, ...changes }));
        index += 1;
      }
    }
  }
  return cells;
}

/**
 * Posts with this member: the one that everybody reads, and a quarter of the others, different ones for each member. The
 * rules of posts and those of their members meet in every pair of properties.
 */
function somePosts(asset: AssetCell, turn: number): PostCell[] {
  return everyPost(asset, {}, ({ visibility, draft, deleted }, index) => {
    if (asksAll || (visibility === 'public' && !draft && !deleted)) return true;
    const mixed = Math.imul(turn * 20 + index + 1, 0x9e3779b1);
    return ((mixed ^ (mixed >>> 15)) >>> 16) % 4 === 0;
  });
}

/** Posts with several members, with members of other owners, and without members: covers, placeholders, identities. */
function gallery(): { assets: AssetCell[]; posts: PostCell[] } {
  const plain = assetCell();
  const ofTeam = assetCell({ sensitivity: 'team', team: 'team' });
  const restricted = assetCell({ sensitivity: 'restricted' });
  const unlisted = assetCell({ status: 'draft' });
  const deleted = assetCell({ deleted: true, deletedBy: 'owner' });
  const mature = assetCell({ mature: true });
  const half = assetCell({ rendered: 'col' });
  const text = assetCell({ rendered: 'nothing' });
  const ofHidden = assetCell({ owner: 'hidden' });
  const hiddenOne = assetCell({ owner: 'hidden', sensitivity: 'restricted' });
  const goneOne = assetCell({ owner: 'gone', sensitivity: 'restricted' });
  const unowned = assetCell({ owner: 'nobody', sensitivity: 'restricted' });
  const ofGone = assetCell({ owner: 'gone' });
  const unownedMature = assetCell({ owner: 'nobody', mature: true });
  const unownedDraft = assetCell({ owner: 'nobody', status: 'draft' });
  const unownedOfTeam = assetCell({ owner: 'nobody', sensitivity: 'team', team: 'team', mature: true });
  const assets = [plain, ofTeam, restricted, unlisted, deleted, mature, half, text];
  assets.push(ofHidden, hiddenOne, goneOne, unowned, ofGone, unownedMature, unownedDraft, unownedOfTeam);
  const tag = 'gallery';
  const posts = [
    postCell([ofTeam, plain], { tag }),
    postCell([ofTeam, plain], { tag, hasFocal: true }),
    postCell([plain, ofTeam], { tag, hasFocal: true }),
    postCell([plain, restricted, deleted, mature], { tag, cover: restricted, hasFocal: true }),
    postCell([plain, mature, ofTeam], { tag, cover: mature, hasFocal: true }),
    postCell([plain, deleted], { tag, cover: deleted, hasFocal: true }),
    postCell([restricted, unlisted, ofTeam], { tag }),
    postCell([deleted], { tag }),
    postCell([deleted, restricted], { tag }),
    postCell([], { tag }),
    postCell([], { tag, visibility: 'private' }),
    postCell([plain], { tag, visibility: 'explicit-share', unshared: true }),
    postCell([], { tag, draft: true }),
    postCell([half, text], { tag }),
    postCell([plain], { tag, author: 'hidden' }),
    postCell([plain], { tag, author: 'gone' }),
    postCell([ofHidden, hiddenOne, goneOne, unowned, ofGone, plain], { tag }),
    postCell([restricted], { tag, author: 'hidden' }),
    postCell([unowned], { tag }),
    postCell([unownedMature], { tag }),
    postCell([unownedDraft], { tag }),
    postCell([unownedOfTeam], { tag }),
    postCell([unownedDraft, unowned], { tag, draft: true }),
  ];
  return { assets, posts };
}

/** How many files are in each collection, of all in turn. */
const FILES_IN_COLLECTION = 12;

/** Collections of every visibility, live, expired and deleted, with these posts; each begins with a different one. */
function everyCollection(posts: readonly PostCell[], assets: readonly AssetCell[]): CollectionCell[] {
  const cells: CollectionCell[] = [];
  const add = (changes: Partial<CollectionCell>) => {
    const turn = (cells.length * 17) % posts.length;
    const from = (cells.length * FILES_IN_COLLECTION) % assets.length;
    const rotated = [...posts.slice(turn), ...posts.slice(0, turn)];
    cells.push({
      id: randomUUID(),
      visibility: 'public',
      deleted: false,
      expired: false,
      owner: 'author',
      posts: rotated,
      files: [...assets.slice(from), ...assets].slice(0, FILES_IN_COLLECTION),
      cover: cells.length % 2 === 0 ? null : (rotated[(cells.length * 5) % rotated.length] ?? null),
      deletedBy: null,
      ...changes,
    });
  };
  for (const visibility of visibilities) {
    add({ visibility });
    add({ visibility, expired: true });
    add({ visibility, deleted: true, deletedBy: postDeleters[cells.length % postDeleters.length] ?? null });
  }
  for (const owner of ['hidden', 'gone'] as const) {
    add({ owner });
    add({ owner, visibility: 'followers' });
  }
  add({ visibility: 'explicit-share', unshared: true });
  return cells;
}

function newThread(): Thread {
  const roots = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const byCommenter = must(roots[3], 'root');
  return {
    roots,
    byCommenter,
    reply: randomUUID(),
    deletedRoot: randomUUID(),
    board: randomUUID(),
    count: 5,
  };
}

/** Relates assets in pairs, which differ in few properties. */
function relateNeighbours(assets: readonly AssetCell[]): void {
  for (const [index, asset] of assets.entries()) {
    const other = assets[index + (index % 2 === 0 ? 1 : -1)];
    if (other !== undefined) asset.related = other;
  }
}

export function makeCells(): Cells {
  const assets = everyAsset(['none', 'team']);
  const posts = assets.flatMap(somePosts);
  const elsewhere = everyAsset(['above', 'below', 'elsewhere']);
  posts.push(...elsewhere.map((asset) => postCell([asset], { tag: 'teams' })));
  const plain = assetCell();
  for (const team of teams) {
    const withThread = everyPost(plain, { tag: 'sample', team });
    posts.push(...withThread.map((cell) => ({ ...cell, thread: newThread() })));
  }
  const extra = gallery();
  const following = followingPosts();
  assets.push(...elsewhere, plain, ...extra.assets, ...following.assets, ...sharedAssets());
  posts.push(...extra.posts, ...following.posts);
  relateNeighbours(assets);

  // A prime distance meets every state sooner or later.
  const placed = assets.filter((_, index) => index % 7 === 0);
  const sampled = posts.filter(({ tag }) => tag === 'sample');
  const inTeams = sampled.filter(
    // Every second collection is deleted.
    ({ team }, index) => (team === 'none' || team === 'team') && index % 3 !== 0,
  );
  const sample = sampled.filter(({ team, visibility, draft, deleted }) => {
    if (team === 'none') return !deleted || visibility === 'public' || visibility === 'private';
    return (
      (visibility === 'private' && !(draft && deleted)) || (visibility === 'public' && draft && !deleted)
    );
  });
  // Links pass on files that follow their posts.
  const passing = following.posts.filter((_, index) => index % 4 === 0);
  const collections = everyCollection([...extra.posts, ...inTeams, ...passing], placed);
  return { assets, posts, collections, sample };
}

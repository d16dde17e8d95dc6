import { must } from '../cells.ts';
import {
  type CollectionCell,
  dueAsset,
  dueCollection,
  dueInFeed,
  editsCollection,
  isInFeed,
  type PostCell,
  readsCollection,
  readsPost,
  type Switches,
  shownItems,
} from '../due.ts';
import type { CallerKind } from '../matrix.ts';
import {
  lookOfAsset,
  lookOfCollection,
  lookOfPost,
  type SeenAsset,
  type SeenCollection,
  type SeenPost,
} from '../responses.ts';
import {
  accountDoor,
  changing,
  everyItem,
  labelOfCollection,
  type Probe,
  pathsOf,
  postDoor,
  probe,
  readDoor,
  refusalOf,
} from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';
import { lookAtFeed } from './feeds.ts';

/** Collections in lists and single ones, with their posts, counts and covers. */

type SeenItem = { kind: 'post'; post: SeenPost } | { kind: 'asset'; asset: SeenAsset };

/** The list: its collections, their counts and their pictures. */
export async function lookAtCollections(matrix: Matrix, caller: Caller, switches: Switches) {
  const items = await everyItem<SeenCollection>(matrix.ledger, caller, '/collections', '', switches);
  if (items === null) return;
  const who = caller.kind;
  const seen = new Map(items.map((item) => [item.id, lookOfCollection(item)]));
  for (const cell of matrix.world.collections) {
    const due = readsCollection(who, cell) ? dueCollection(who, cell, switches) : 'absent';
    matrix.ledger.hold(
      () => `${caller.name}: /collections: ${labelOfCollection(cell)}`,
      seen.get(cell.id) ?? 'absent',
      due,
    );
  }
  const due = matrix.world.collections.filter((cell) => readsCollection(who, cell)).length;
  matrix.ledger.hold(`${caller.name}: /collections: how many, each once`, items.length, due);
}

/** A single collection, its posts in order, and the feed filtered by it. */
export async function lookAtCollection(
  matrix: Matrix,
  caller: Caller,
  cell: CollectionCell,
  switches: Switches,
) {
  const who = caller.kind;
  const label = () => `${caller.name}: ${labelOfCollection(cell)}`;
  const isOpen = readsCollection(who, cell);
  const refusal = refusalOf(caller, readDoor, switches);
  const { status, text } = await caller.visitor.send(`/collections/${cell.id}`);
  matrix.ledger.hold(label, status, refusal ?? (isOpen ? 200 : 404));
  if (status === 200)
    matrix.ledger.hold(label, lookOfCollection(JSON.parse(text)), dueCollection(who, cell, switches));
  const rule = (one: CallerKind, post: PostCell) => isOpen && isInFeed(one, post);
  await lookAtFeed(matrix, caller, { query: `collection=${cell.id}`, cells: cell.posts, rule }, switches);
  const path = `/collections/${cell.id}/posts` as const;
  if (refusal !== null || !isOpen) {
    matrix.ledger.hold(() => `${label()}: posts`, (await caller.visitor.send(path)).status, refusal ?? 404);
    return;
  }
  const items = await everyItem<SeenPost>(matrix.ledger, caller, path, '', switches);
  const due = cell.posts.filter((post) => isInFeed(who, post));
  const looks = due.map((post) => dueInFeed(who, post, switches));
  matrix.ledger.hold(
    () => `${label()}: posts`,
    (items ?? []).map(lookOfPost).join('\n\n'),
    looks.join('\n\n'),
  );
  const all = await everyItem<SeenItem>(matrix.ledger, caller, `/collections/${cell.id}/items`, '', switches);
  matrix.ledger.hold(
    () => `${label()}: items`,
    (all ?? [])
      .map((item) => (item.kind === 'post' ? lookOfPost(item.post) : lookOfAsset(item.asset)))
      .join('\n\n'),
    shownItems(who, cell)
      .map(({ post, file }) =>
        post === undefined ? dueAsset(who, file, switches) : dueInFeed(who, post, switches),
      )
      .join('\n\n'),
  );
}

const deletedOf = (posts: readonly PostCell[]) =>
  must(
    posts.find(({ deleted }) => deleted),
    'deleted post',
  );

const editing = (done: number) => (who: CallerKind, cell: CollectionCell) =>
  changing(readsCollection(who, cell), editsCollection(who, cell), done);
/** Moving a post needs the right to read it. */
const moving = (place: number) => (who: CallerKind, cell: CollectionCell) =>
  editing(readsPost(who, must(cell.posts[place], 'post')) ? 204 : 404)(who, cell);

/** Every operation on a collection that changes nothing if it is allowed. */
export function collectionProbes(matrix: Matrix): Probe<CollectionCell>[] {
  const below = pathsOf('/collections');
  const shareWith = (name: CallerKind) => below(`/shares/${matrix.world.refOf(name)}`);
  return [
    probe(accountDoor, 'GET', below('/shares'), editing(200)),
    probe(accountDoor, 'GET', shareWith('sharee'), editing(200)),
    probe(postDoor, 'PUT', shareWith('sharee'), editing(200)),
    // It is not shared with them.
    probe(postDoor, 'DELETE', shareWith('stranger'), editing(404)),
    probe(postDoor, 'PATCH', below(''), editing(200), { body: {} }),
    // Adding a contained post changes nothing; posts that the caller cannot read are 404.
    probe(postDoor, 'PUT', ({ id, posts }) => `/collections/${id}/posts/${posts[0]?.id}`, moving(0)),
    // Nobody may move deleted posts, although they keep their position.
    probe(
      postDoor,
      'PUT',
      ({ id, posts }) => `/collections/${id}/posts/${deletedOf(posts).id}`,
      editing(404),
    ),
    probe(postDoor, 'PUT', below('/order'), editing(404), {
      bodyOf: ({ posts }) => ({ post_ids: [deletedOf(posts).id] }),
    }),
    // A list of one post keeps its position; a post that the caller cannot read counts as not contained.
    probe(postDoor, 'PUT', below('/order'), moving(1), {
      bodyOf: ({ posts }) => ({ post_ids: [posts[1]?.id] }),
    }),
    probe(postDoor, 'DELETE', below('/posts/00000000-0000-4000-8000-0000000000ff'), editing(204)),
    probe(postDoor, 'PUT', below('/assets/00000000-0000-4000-8000-0000000000ff'), editing(404)),
    probe(postDoor, 'DELETE', below('/assets/00000000-0000-4000-8000-0000000000ff'), editing(204)),
    // Nobody may name an item twice.
    probe(postDoor, 'PATCH', below('/order'), editing(400), {
      bodyOf: ({ posts }) => ({
        items: [posts[1], posts[1]].map((post) => ({ kind: 'post', id: post?.id })),
      }),
    }),
  ];
}

/** Collections that contain a post, if the caller sees it there, or, for the owner, can read it. */
export async function lookAtHolders(matrix: Matrix, caller: Caller, post: PostCell, switches: Switches) {
  const query = `containing=${post.id}`;
  const items = await everyItem<SeenCollection>(matrix.ledger, caller, '/collections', query, switches);
  if (items === null) return;
  const who = caller.kind;
  const holders = matrix.world.collections.filter((cell) => {
    const isArranged = who === 'author' && cell.owner === 'author' && readsPost(who, post);
    return cell.posts.includes(post) && readsCollection(who, cell) && (isInFeed(who, post) || isArranged);
  });
  const got = items.map(({ id }) => id).sort();
  matrix.ledger.hold(
    () => `${caller.name}: /collections?${query}`,
    got.join(),
    holders
      .map(({ id }) => id)
      .sort()
      .join(),
  );
}

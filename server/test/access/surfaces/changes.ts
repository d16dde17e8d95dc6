import { must } from '../cells.ts';
import { type AssetCell, editsAsset, editsPost, type PostCell, readsPost, type Switches } from '../due.ts';
import { type CallerKind, commentAuthor, teams } from '../matrix.ts';
import {
  ask,
  assetDoor,
  changing,
  changingAsset,
  changingPost,
  commentDoor,
  labelOfAsset,
  labelOfPost,
  type Probe,
  pathsOf,
  postDoor,
  probe,
  reading,
  threadOf,
} from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import { type Caller, PUBLISHED, WIP } from '../world.ts';

/** Changes that are really made: edits, moves, deletions and restores. */

/** Separate rows for callers who may edit, move, delete and restore. */
export async function throwaways(matrix: Matrix): Promise<{ posts: PostCell[]; assets: AssetCell[] }> {
  const { library, refs, refOf, teamIds, hash } = matrix.world;
  const { db } = library.deps;
  const commenter = { author_user_ref: refOf(commentAuthor) };
  const posts: PostCell[] = [];
  const assets: AssetCell[] = [];
  const samplePost = must(matrix.world.sample[0], 'sample');
  const sampleAsset = must(matrix.world.assets[0], 'asset');
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
          author_user_ref: must(refs.author, 'author'),
          team_id: teamIds.get(team) ?? null,
          visibility: state.visibility,
          state_id: state.draft ? WIP : PUBLISHED,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const comment = await db
        .insertInto('comments')
        .values({ ...commenter, post_id: id, body: 'mine' })
        .returning('id')
        .executeTakeFirstOrThrow();
      const board = await db
        .insertInto('whiteboards')
        .values({ ...commenter, post_id: id, strokes: JSON.stringify([{ points: [[0, 0]] }]) })
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
          owner_user_ref: refs.owner,
          asset_type: 1,
          file_hash: hash,
          file_name: 'a.jpg',
          team_id: teamIds.get(team) ?? null,
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

export async function removeThrowaways(
  matrix: Matrix,
  posts: readonly PostCell[],
  assets: readonly AssetCell[],
): Promise<void> {
  const { db } = matrix.world.library.deps;
  const ids = (cells: readonly { id: string }[]) => cells.map(({ id }) => id);
  await db.deleteFrom('posts').where('id', 'in', ids(posts)).execute();
  await db.deleteFrom('assets').where('id', 'in', ids(assets)).execute();
}

export async function workOnPost(matrix: Matrix, caller: Caller, cell: PostCell, switches: Switches) {
  const below = pathsOf('/posts');
  const editing = (done: number) => (who: CallerKind, post: PostCell) => changingPost(who, post, done);
  const takingAway = (who: CallerKind, post: PostCell) => {
    const takesAway = readsPost(who, post) && (who === commentAuthor || editsPost(who, post));
    return changing(readsPost(who, post), takesAway, 204);
  };
  const steps: Probe<PostCell>[] = [
    probe(postDoor, 'PATCH', below(''), editing(200), { body: { title: 'another' } }),
    probe(
      commentDoor,
      'POST',
      below('/comments'),
      (who, post) => (!readsPost(who, post) ? 404 : post.draft ? 409 : 201),
      { body: { body: 'well' } },
    ),
    probe(postDoor, 'POST', below('/whiteboards'), (who, post) => (readsPost(who, post) ? 201 : 404), {
      body: { strokes: [{ points: [[0, 0]] }] },
    }),
    probe(postDoor, 'POST', below('/like'), reading),
    probe(commentDoor, 'DELETE', (post) => `/comments/${threadOf(post).byCommenter}`, takingAway),
    probe(postDoor, 'DELETE', (post) => `/whiteboards/${threadOf(post).board}`, takingAway),
    probe(
      postDoor,
      'POST',
      ({ id, draft }) => `/posts/${id}/${draft ? 'publish' : 'unpublish'}`,
      editing(200),
    ),
    probe(postDoor, 'DELETE', below(''), editing(204)),
    // The account that deleted it may undo that; for all others it is unchanged.
    probe(
      postDoor,
      'POST',
      ({ id }) => `/admin/posts/${id}/restore`,
      (who, post) => (editsPost(who, post) ? 204 : 404),
    ),
  ];
  for (const step of steps) await ask(matrix, caller, step, cell, labelOfPost(cell), switches);
}

export async function workOnAsset(matrix: Matrix, caller: Caller, cell: AssetCell, switches: Switches) {
  const path = ({ id }: AssetCell) => `/assets/${id}`;
  const steps: Probe<AssetCell>[] = [
    probe(assetDoor, 'PATCH', path, (who, asset) => changingAsset(who, asset, 200), {
      body: { title: 'another' },
    }),
    probe(assetDoor, 'DELETE', path, (who, asset) => changingAsset(who, asset, 204)),
    probe(
      assetDoor,
      'POST',
      ({ id }) => `/admin/assets/${id}/restore`,
      (who, asset) => (editsAsset(who, asset) ? 204 : 404),
    ),
  ];
  for (const step of steps) await ask(matrix, caller, step, cell, labelOfAsset(cell), switches);
}

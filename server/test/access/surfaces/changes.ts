import {
  ask,
  changing,
  changingAsset,
  changingPost,
  commenting,
  labelOfAsset,
  labelOfPost,
  type Probe,
  posting,
  reading,
  threadOf,
} from '../asking.ts';
import { must } from '../cells.ts';
import { type AssetCell, editsAsset, editsPost, type PostCell, readsPost, type Switches } from '../due.ts';
import { type CallerKind, commentAuthor, teams } from '../matrix.ts';
import type { Matrix } from '../setting.ts';
import { type Caller, PUBLISHED, WIP } from '../world.ts';

/** Changes that are really made: edits, moves, deletions and restores. */

/** Separate rows for callers who may edit, move, delete and restore. */
export async function throwaways(matrix: Matrix): Promise<{ posts: PostCell[]; assets: AssetCell[] }> {
  const { db } = matrix.world.library.deps;
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
          author_user_ref: must(matrix.world.refs.author, 'author'),
          team_id: matrix.world.teamIds.get(team) ?? null,
          visibility: state.visibility,
          state_id: state.draft ? WIP : PUBLISHED,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const comment = await db
        .insertInto('comments')
        .values({ post_id: id, author_user_ref: matrix.world.refOf(commentAuthor), body: 'mine' })
        .returning('id')
        .executeTakeFirstOrThrow();
      const board = await db
        .insertInto('whiteboards')
        .values({
          post_id: id,
          author_user_ref: matrix.world.refOf(commentAuthor),
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
          owner_user_ref: matrix.world.refs.owner,
          asset_type: 1,
          file_hash: matrix.world.hash,
          file_name: 'a.jpg',
          team_id: matrix.world.teamIds.get(team) ?? null,
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
  const label = labelOfPost(cell);
  const step = (probe: Probe<PostCell>) => ask(matrix, caller, probe, cell, label, switches);
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
  const takingAway = (who: CallerKind, post: PostCell) => {
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
  // The account that deleted it may undo that; for all others it is unchanged.
  await step({
    ...posting,
    method: 'POST',
    path: ({ id }) => `/admin/posts/${id}/restore`,
    due: (who, post) => (editsPost(who, post) ? 204 : 404),
  });
}

export async function workOnAsset(matrix: Matrix, caller: Caller, cell: AssetCell, switches: Switches) {
  const writing = { door: 'signedIn', scope: 'assets.write' } as const;
  const step = (probe: Probe<AssetCell>) => ask(matrix, caller, probe, cell, labelOfAsset(cell), switches);
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

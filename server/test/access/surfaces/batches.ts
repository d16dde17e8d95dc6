import type { BatchPreview } from '@vitrine/contract/batches';
import { answerOf, editsAsset, editsPost, readsPost } from '../due.ts';
import { byAssets, byPosts } from '../matrix.ts';
import { assetDoor, labelOfAsset, labelOfPost, postDoor, refusalOf } from '../send-requests.ts';
import { asksAll, type Matrix, portion } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Changes of many objects at once: what a dry run says of each object. Writing one decides in the same way. */

/** A preview names up to this many objects for each reason. */
const AT_ONCE = 20;

const action = { kind: 'add_tags', tags: ['of a batch'] };

interface Kind<C> {
  path: '/assets/batch' | '/posts/batch';
  door: typeof assetDoor | typeof postDoor;
  due(cell: C): string;
  label(cell: C): string;
}

async function lookAt<C extends { id: string }>(
  { ledger }: Matrix,
  caller: Caller,
  cells: readonly C[],
  { path, door, due, label }: Kind<C>,
): Promise<void> {
  const refusal = refusalOf(caller, door);
  for (let at = 0; at < cells.length; at += AT_ONCE) {
    const asked = cells.slice(at, at + AT_ONCE);
    const body = { ids: asked.map(({ id }) => id), action, dry_run: true };
    const { status, text } = await caller.visitor.send(path, { method: 'POST', body });
    ledger.hold(`${caller.name}: ${path}: status`, status, refusal ?? 200);
    if (status !== 200) return;
    const preview: BatchPreview = JSON.parse(text);
    const reasons = new Map(preview.refused.flatMap(({ reason, ids }) => ids.map((id) => [id, reason])));
    for (const cell of asked)
      ledger.hold(
        () => `${caller.name}: ${path}: ${label(cell)}`,
        reasons.get(cell.id) ?? 'changed',
        due(cell),
      );
  }
}

export async function lookAtBatches(matrix: Matrix, caller: Caller): Promise<void> {
  const { kind } = caller;
  await lookAt(matrix, caller, portion(caller, matrix.world.assets, byAssets), {
    path: '/assets/batch',
    door: assetDoor,
    due: (cell) =>
      editsAsset(kind, cell)
        ? 'changed'
        : answerOf(kind, cell) === 'missing'
          ? 'not found'
          : 'only its owner can change it',
    label: labelOfAsset,
  });
  // The states of an only member do not matter here, so that fewer posts have every state of a post.
  const posts = matrix.world.posts.filter(
    ({ tag }, index) => asksAll || tag !== 'product' || index % 7 === 0,
  );
  await lookAt(matrix, caller, portion(caller, posts, byPosts), {
    path: '/posts/batch',
    door: postDoor,
    due: (cell) =>
      editsPost(kind, cell)
        ? 'changed'
        : readsPost(kind, cell)
          ? 'only its author can change it'
          : 'not found',
    label: labelOfPost,
  });
}

import type { Answered } from '../../support/client.ts';
import {
  type AssetCell,
  duePost,
  isInFeed,
  type PostCell,
  readsPost,
  readsUsage,
  type Switches,
} from '../due.ts';
import { lookOfPost, type SeenPost } from '../responses.ts';
import { accountDoor, labelOfAsset, readDoor, refusalOf } from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';
import { hasAsset } from './feeds.ts';

/** Uses of an asset: the usage view, and the posts by asset. */

/** Posts were created in the order of this list. */
const newestFirst = (posts: readonly PostCell[]) => [...posts].reverse();

export async function lookAtUsage(
  matrix: Matrix,
  caller: Caller,
  cell: AssetCell,
  missing: Answered,
  switches: Switches,
) {
  const who = caller.kind;
  const { status, text } = await caller.visitor.send(`/assets/${cell.id}/posts`);
  const label = `${caller.name}: GET /assets/{id}/posts: ${labelOfAsset(cell)}`;
  const refusal = refusalOf(caller, accountDoor, switches);
  if (refusal !== null || !readsUsage(who, cell)) {
    matrix.ledger.hold(label, status, refusal ?? 404);
    matrix.ledger.hold(`${label}: to the byte`, text, missing.text);
    return;
  }
  matrix.ledger.hold(label, status, 200);
  if (status !== 200) return;
  const live = newestFirst(matrix.world.posts.filter((post) => !post.deleted && hasAsset(cell)(post)));
  const readable = live.filter((post) => readsPost(who, post));
  const usage: { items: SeenPost[]; withheld_count: number } = JSON.parse(text);
  const due = readable.map((post) => duePost(who, post, switches, true));
  matrix.ledger.hold(label, usage.items.map(lookOfPost).join('\n\n'), due.join('\n\n'));
  matrix.ledger.hold(`${label}: withheld_count`, usage.withheld_count, live.length - readable.length);
  matrix.ledger.hold(`${label}: nothing else`, Object.keys(usage).sort().join(), 'items,withheld_count');
}

export async function lookByAsset(matrix: Matrix, caller: Caller, cell: AssetCell, switches: Switches) {
  const who = caller.kind;
  const { status, text } = await caller.visitor.send(`/posts/by-asset/${cell.id}`);
  const label = `${caller.name}: GET /posts/by-asset/{id}: ${labelOfAsset(cell)}`;
  const refusal = refusalOf(caller, readDoor, switches);
  matrix.ledger.hold(`${label}: status`, status, refusal ?? 200);
  if (status !== 200) return;
  const seen: SeenPost[] = JSON.parse(text);
  const due = newestFirst(matrix.world.posts.filter((post) => hasAsset(cell)(post) && isInFeed(who, post)));
  const looks = due.map((post) => duePost(who, post, switches, true));
  matrix.ledger.hold(label, seen.map(lookOfPost).join('\n\n'), looks.join('\n\n'));
}

import { must } from '../cells.ts';
import {
  type AssetCell,
  dueInFeed,
  isInDrafts,
  isInFeed,
  isInFeedWithTrash,
  type PostCell,
  type Switches,
} from '../due.ts';
import { type CallerKind, commentAuthor } from '../matrix.ts';
import { lookOfPost, type SeenPost } from '../responses.ts';
import { everyItem, labelOfPost } from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Lists of posts: the feed with every filter and order, drafts, and the trash. */

export interface Feed {
  query: string;
  /** The posts that it contains for each caller. */
  cells: readonly PostCell[];
  rule: (who: CallerKind, post: PostCell) => boolean;
}

export async function lookAtFeed(
  matrix: Matrix,
  caller: Caller,
  { query, cells, rule }: Feed,
  switches: Switches,
) {
  const items = await everyItem<SeenPost>(matrix.ledger, caller, '/posts', query, switches);
  if (items === null) return;
  const who = caller.kind;
  const seen = new Map(items.map((item) => [item.id, lookOfPost(item)]));
  for (const cell of cells) {
    const due = rule(who, cell) ? dueInFeed(who, cell, switches) : 'absent';
    const label = () => `${caller.name}: /posts?${query}: ${labelOfPost(cell)}`;
    matrix.ledger.hold(label, seen.get(cell.id) ?? 'absent', due);
  }
  const due = cells.filter((cell) => rule(who, cell)).length;
  matrix.ledger.hold(`${caller.name}: /posts?${query}: how many, each once`, items.length, due);
}

export function hasAsset(asset: AssetCell): (post: PostCell) => boolean {
  return ({ members }) => !asset.deleted && members.some(({ id }) => id === asset.id);
}

const liveAsset = (matrix: Matrix, changes: Partial<AssetCell>) =>
  must(
    matrix.world.assets.find((asset) => {
      const entries = Object.entries({ team: 'team', status: 'active', processing: 'ready', ...changes });
      return entries.every(([key, value]) =>
        Object.entries(asset).some(([k, v]) => k === key && v === value),
      );
    }),
    'such an asset',
  );

/** The feed with every filter and order, which all follow the same rule. */
export function narrowedFeeds(matrix: Matrix): Feed[] {
  const tagged = (tag: string) => matrix.world.posts.filter((post) => post.tag === tag);
  const sample = tagged('sample');
  const withheld = liveAsset(matrix, { sensitivity: 'restricted', deleted: false, mature: false });
  const gone = liveAsset(matrix, { sensitivity: 'public', deleted: true, mature: false });
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
      query: `tag=gallery&author_ref=${matrix.world.refs.author}`,
      cells: tagged('gallery').filter(({ author }) => author === 'author'),
      rule: isInFeed,
    },
    {
      query: `author_ref=${matrix.world.refs.hidden}`,
      cells: matrix.world.posts.filter(({ author }) => author === 'hidden'),
      rule: isInFeed,
    },
    {
      query: `team_id=${matrix.world.teamIds.get('team')}`,
      cells: matrix.world.posts.filter(ofTeam),
      rule: isInFeed,
    },
    { query: `asset=${withheld.id}`, cells: matrix.world.posts.filter(hasAsset(withheld)), rule: isInFeed },
    { query: `asset=${gone.id}`, cells: matrix.world.posts.filter(hasAsset(gone)), rule: isInFeed },
    {
      query: `liked_by=${matrix.world.refOf(commentAuthor)}`,
      cells: sample,
      rule: (who, post) => who === commentAuthor && isInFeed(who, post),
    },
    {
      query: `pinned_by=${matrix.world.refs.author}`,
      cells: sample.filter(({ author }) => author === 'author'),
      rule: isInFeed,
    },
    { query: 'draft=true&tag=sample&feed=trending', cells: sample, rule: isInDrafts },
    { query: 'include_deleted=true&tag=sample', cells: sample, rule: isInFeedWithTrash },
    { query: 'include_deleted=true&tag=gallery', cells: tagged('gallery'), rule: isInFeedWithTrash },
  ];
}

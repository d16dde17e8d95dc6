import { lastPlace, type PostCreate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { registerTags } from '../../core/tag-register.ts';
import type { Tx } from '../../platform/database/pool.ts';

async function stateId(tx: Tx, code: 'wip' | 'published'): Promise<string> {
  const state = await tx
    .selectFrom('workflow_states')
    .select('id')
    .where('domain', '=', 'post')
    .where('code', '=', code)
    .executeTakeFirstOrThrow();
  return state.id;
}

export interface Place {
  asset_id: string;
  sort_order: number;
}

/**
 * Returns the members in order, each at a unique position: of several with the same position, the first gets it and the
 * others follow in the given order. Where they would pass the last position, those before them move forward.
 */
export function placed(members: PostCreate['members']): Place[] {
  const requested = members.map((member, index) => ({
    asset_id: member.asset_id,
    sort_order: member.sort_order ?? index,
  }));
  let last = -1;
  const places = requested
    .toSorted((a, b) => a.sort_order - b.sort_order)
    .map(({ asset_id, sort_order }) => {
      last = Math.max(sort_order, last + 1);
      return { asset_id, sort_order: last };
    });
  return places.map(({ asset_id, sort_order }, index) => ({
    asset_id,
    sort_order: Math.min(sort_order, lastPlace - (places.length - 1 - index)),
  }));
}

/** Inserts a post and its members, which were validated before, and returns its id. */
export async function insertPost(tx: Tx, authorRef: number, body: PostCreate): Promise<string> {
  const members = placed(body.members);
  const post = await tx
    .insertInto('posts')
    .values({
      author_user_ref: authorRef,
      title: body.title ?? '',
      description: body.description ?? '',
      visibility: body.visibility ?? 'org-only',
      cover_asset_id: body.cover_asset_id ?? null,
      cover_thumbnail_asset_id: body.cover_thumbnail_asset_id ?? null,
      cover_focal_x: body.cover_focal_x ?? null,
      cover_focal_y: body.cover_focal_y ?? null,
      cover_focal_asset_id:
        body.cover_focal_x == null ? null : (body.cover_asset_id ?? members[0]?.asset_id ?? null),
      state_id: await stateId(tx, body.draft === true ? 'wip' : 'published'),
      comments_enabled: body.comments_enabled ?? true,
      tags: await registerTags(tx, body.tags ?? []),
      team_id: body.team_id ?? null,
      published_at: body.draft === true ? null : sql`now()`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('post_members')
    .values(members.map((member) => ({ post_id: post.id, ...member })))
    .execute();
  return post.id;
}

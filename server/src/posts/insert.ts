import type { PostCreate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { Tx } from '../platform/database/pool.ts';

async function stateId(tx: Tx, code: 'wip' | 'published'): Promise<string> {
  const state = await tx
    .selectFrom('workflow_states')
    .select('id')
    .where('domain', '=', 'post')
    .where('code', '=', code)
    .executeTakeFirstOrThrow();
  return state.id;
}

/** The member that stands first: the card's cover when none is chosen. */
function firstOf(members: PostCreate['members']): string | null {
  const placed = members.map((member, index) => ({
    id: member.asset_id.toLowerCase(),
    place: member.sort_order ?? index,
  }));
  placed.sort((a, b) => a.place - b.place || (a.id < b.id ? -1 : 1));
  return placed[0]?.id ?? null;
}

/** Writes a post and its members, whose rules were checked before, and returns its id. */
export async function insertPost(tx: Tx, authorRef: number, body: PostCreate): Promise<string> {
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
        body.cover_focal_x == null ? null : (body.cover_asset_id ?? firstOf(body.members)),
      state_id: await stateId(tx, body.draft === true ? 'wip' : 'published'),
      comments_enabled: body.comments_enabled ?? true,
      tags: [...new Set(body.tags ?? [])],
      team_id: body.team_id ?? null,
      published_at: body.draft === true ? null : sql`now()`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const members = body.members.map((member, index) => ({
    post_id: post.id,
    asset_id: member.asset_id,
    sort_order: member.sort_order ?? index,
  }));
  await tx.insertInto('post_members').values(members).execute();
  return post.id;
}

import type { Capability, TokenScope } from '@vitrine/contract/capabilities';
import type { FeedQuery } from '@vitrine/contract/posts';
import type { Visibility } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { newAccessToken } from '../../src/identity/access-tokens.ts';
import { createAccount } from '../../src/identity/accounts.ts';
import { hashToken, startSession } from '../../src/identity/sessions.ts';
import { type Answered, type Visitor, visit } from '../support/client.ts';
import type { Account, Library } from '../support/library.ts';

/** An identifier that nothing has. */
export const nowhere = '00000000-0000-4000-8000-00000000dead';

/** An account with a session and without a password, which takes its time to hash. */
export async function arrive(
  { address, deps: { db, passwords } }: Library,
  username: string,
  role: 'admin' | 'member' | 'viewer' = 'member',
): Promise<Account> {
  const ref = await createAccount(db, passwords, { username, password: null, role });
  if (ref === null) throw new Error(`${username} is taken`);
  const token = await startSession(db, { userRef: ref, days: 30, address: '127.0.0.1', userAgent: 'test' });
  return { ...visit(address, {}, token), ref, username };
}

/** Gives an account a capability, in one team and all below it when one is named. */
export async function grant(
  { deps: { db } }: Library,
  account: Account,
  capability: Capability,
  team_id: string | null = null,
): Promise<void> {
  await db
    .insertInto('user_capability_grants')
    .values({ user_ref: account.ref, capability, team_id })
    .execute();
}

/** The account behind a bearer token with these scopes. */
export async function bearer(
  { address, deps: { db } }: Library,
  account: Account,
  scopes: TokenScope[],
): Promise<Visitor> {
  const token = newAccessToken();
  await db
    .insertInto('access_tokens')
    .values({ user_ref: account.ref, name: 'script', token_hash: hashToken(token), scopes, expires_at: null })
    .execute();
  return visit(address, { authorization: `Bearer ${token}` });
}

/** An administrator, in another window, acting as somebody else. */
export async function actAs({ address }: Library, admin: Account, target: Account): Promise<Visitor> {
  const mask = visit(address, {}, admin.cookie());
  await mask.ok('impersonate', { params: { ref: target.ref }, body: undefined });
  return mask;
}

export async function addTeam(
  { deps: { db } }: Library,
  slug: string,
  members: readonly Account[] = [],
): Promise<string> {
  const { id } = await db
    .insertInto('teams')
    .values({ slug, name: slug })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const { ref } of members)
    await db.insertInto('team_members').values({ team_id: id, user_ref: ref }).execute();
  return id;
}

export interface ManyPosts {
  author: Account;
  /** The members of each post, in their order. */
  members: readonly string[];
  count: number;
  visibility?: Visibility;
  draft?: boolean;
  /** When the first was posted; each further one a second later. */
  from?: string;
  /** Whether all are of one moment. */
  together?: boolean;
}

/** Writes many posts at once; their ids, newest first. */
export async function addPosts({ deps: { db } }: Library, posts: ManyPosts): Promise<string[]> {
  const { author, members, count, visibility = 'org-only', draft = false } = posts;
  const { from = '2026-01-01T00:00:00Z', together = false } = posts;
  const { rows } = await sql<{ id: string }>`
    with made as (
      insert into posts (author_user_ref, visibility, state_id, posted_at, published_at)
      select ${author.ref}, ${visibility}, s.id, t.at, case when ${draft} then null else t.at end
      from workflow_states s, lateral (
        select ${from}::timestamptz + n * ${together ? 0 : 1} * interval '1 second' as at
        from generate_series(0, ${count - 1}) n) t
      where s.domain = 'post' and s.code = ${draft ? 'wip' : 'published'}
      returning id, posted_at),
    placed as (
      insert into post_members (post_id, asset_id, sort_order)
      select made.id, m.id, m.place - 1 from made, unnest(${[...members]}::uuid[]) with ordinality m (id, place))
    select id from made order by posted_at desc, id desc`.execute(db);
  return rows.map(({ id }) => id);
}

/** All of an answer but what names the moment or the request. */
export function lasting({ status, headers, text }: Answered) {
  const passing = ['date', 'x-request-id'];
  return { status, text, headers: [...headers].filter(([name]) => !passing.includes(name)) };
}

/** Every page a visitor is given for this question, one after the other. */
export async function everyPage(visitor: Visitor, query: FeedQuery): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const page: { items: { id: string }[]; next_cursor: string | null } = await visitor.ok('listPosts', {
      query: { ...query, ...(cursor === null ? {} : { cursor }) },
    });
    pages.push(page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return pages;
}

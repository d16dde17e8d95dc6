import type { TokenScope } from '@vitrine/contract/capabilities';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

/**
 * Everything below a post (its thread, likes, whiteboards) through every kind of caller: who does not read the post
 * is answered as if it were not there (POST-4, POST-8).
 */
const missing = '00000000-0000-4000-8000-00000000dead';

const kinds = ['public', 'org-only', 'followers', 'explicit-share', 'private', 'draft', 'deleted'] as const;
type Kind = (typeof kinds)[number];

/** What each kind of caller reads. */
const everything: readonly Kind[] = ['public', 'org-only', 'followers', 'explicit-share', 'private', 'draft'];
const reads = {
  'a stranger': ['public', 'org-only'],
  'a team member': ['public', 'org-only'],
  'a viewer without posts.comment': ['public', 'org-only'],
  'who commented': ['public', 'org-only'],
  'a holder of everything but posts.admin': ['public', 'org-only'],
  'posts.admin of another team': ['public', 'org-only'],
  'a follower': ['public', 'org-only', 'followers'],
  'who it is shared with': ['public', 'org-only', 'explicit-share'],
  'an administrator acting as a stranger': ['public', 'org-only'],
  'the author': everything,
  'an administrator acting as the author': everything,
  'posts.admin of its team': everything,
  'posts.admin': everything,
  'system.admin': everything,
} as const satisfies Record<string, readonly Kind[]>;
type Who = keyof typeof reads;

function isWho(name: string): name is Who {
  return name in reads;
}
const everybody = Object.keys(reads).filter(isWho);

/** COMMENT-8: who takes somebody else's comment away. */
const moderators: readonly Who[] = [
  'the author',
  'an administrator acting as the author',
  'posts.admin of its team',
  'posts.admin',
  'system.admin',
];

interface Cell {
  id: string;
  comment: string;
  reply: string;
}

let library: Library;
let author: Account;
let commenter: Account;
let stranger: Account;
const people = new Map<Who, Visitor>();
const posts = new Map<Kind, Cell>();
const nowhere: Cell = { id: missing, comment: missing, reply: missing };

async function grant(account: Account, capability: string, teamId: string | null = null): Promise<void> {
  await library.deps.db
    .insertInto('user_capability_grants')
    .values({ user_ref: account.ref, capability, team_id: teamId })
    .execute();
}

async function addTeam(slug: string): Promise<string> {
  const { id } = await library.deps.db
    .insertInto('teams')
    .values({ slug, name: slug })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

async function actAs(admin: Account, target: Account): Promise<Visitor> {
  const mask = visit(library.address, {}, admin.cookie());
  await mask.ok('impersonate', { params: { ref: target.ref }, body: {} });
  return mask;
}

async function addComment(postId: string, parentId: string | null = null): Promise<string> {
  const { id } = await library.deps.db
    .insertInto('comments')
    .values({ post_id: postId, parent_id: parentId, author_user_ref: commenter.ref, body: 'x' })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

async function settle(kind: Kind, picture: { id: string }, team: string): Promise<Cell> {
  const visibility = kind === 'draft' || kind === 'deleted' ? 'public' : kind;
  const { id } = await publish(author, [picture], { visibility, draft: kind === 'draft' });
  const { db } = library.deps;
  const comment = await addComment(id);
  const cell = { id, comment, reply: await addComment(id, comment) };
  await db
    .updateTable('posts')
    .set({ team_id: team, deleted_at: kind === 'deleted' ? '2026-01-01T00:00:00Z' : null })
    .where('id', '=', id)
    .execute();
  return cell;
}

beforeAll(async () => {
  library = await openLibrary();
  const join = (username: string, role: 'admin' | 'member' | 'viewer' = 'member') =>
    library.join(username, role);
  const [root, follower, member, sharee, all, otherTeamAdmin, teamAdmin, postsAdmin, viewer] =
    await Promise.all([
      join('root', 'admin'),
      join('follower'),
      join('member'),
      join('sharee'),
      join('all'),
      join('otherteamadmin'),
      join('teamadmin'),
      join('postsadmin'),
      join('viewer', 'viewer'),
    ]);
  [author, commenter, stranger] = await Promise.all([join('author'), join('commenter'), join('stranger')]);
  const { db } = library.deps;
  const [team, otherTeam] = [await addTeam('press'), await addTeam('print')];
  await db.insertInto('team_members').values({ team_id: team, user_ref: member.ref }).execute();
  await db
    .insertInto('user_follows')
    .values({ follower_user_ref: follower.ref, followed_user_ref: author.ref })
    .execute();
  const others = ['assets.admin', 'content.read.all', 'users.write', 'share.grant', 'system.config.write'];
  for (const capability of others) await grant(all, capability);
  await grant(otherTeamAdmin, 'posts.admin', otherTeam);
  await grant(teamAdmin, 'posts.admin', team);
  await grant(postsAdmin, 'posts.admin');
  const picture = await upload(author, await jpeg(60, 40));
  for (const kind of kinds) posts.set(kind, await settle(kind, picture, team));
  await db
    .insertInto('post_shares')
    .values({ post_id: cellOf('explicit-share').id, user_ref: sharee.ref })
    .execute();
  const known: [Who, Visitor][] = [
    ['a stranger', stranger],
    ['a team member', member],
    ['a viewer without posts.comment', viewer],
    ['who commented', commenter],
    ['a holder of everything but posts.admin', all],
    ['posts.admin of another team', otherTeamAdmin],
    ['a follower', follower],
    ['who it is shared with', sharee],
    ['an administrator acting as a stranger', await actAs(root, stranger)],
    ['the author', author],
    ['an administrator acting as the author', await actAs(root, author)],
    ['posts.admin of its team', teamAdmin],
    ['posts.admin', postsAdmin],
    ['system.admin', root],
  ];
  for (const [who, visitor] of known) people.set(who, visitor);
});

function cellOf(kind: Kind): Cell {
  return posts.get(kind) ?? nowhere;
}

interface Ask {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: (cell: Cell) => string;
  body?: unknown;
  scope: TokenScope;
}

const strokes = [{ points: [[0, 0]] }];
const asks = {
  thread: { method: 'GET', path: (cell) => `/posts/${cell.id}/comments`, scope: 'read' },
  replies: { method: 'GET', path: (cell) => `/comments/${cell.comment}/replies`, scope: 'read' },
  'like state': { method: 'GET', path: (cell) => `/posts/${cell.id}/like`, scope: 'read' },
  whiteboards: { method: 'GET', path: (cell) => `/posts/${cell.id}/whiteboards`, scope: 'read' },
  comment: {
    method: 'POST',
    path: (cell) => `/posts/${cell.id}/comments`,
    body: { body: 'x' },
    scope: 'comments.write',
  },
  edit: {
    method: 'PATCH',
    path: (cell) => `/comments/${cell.reply}`,
    body: { body: 'y' },
    scope: 'comments.write',
  },
  'like a comment': {
    method: 'POST',
    path: (cell) => `/comments/${cell.comment}/like`,
    scope: 'comments.write',
  },
  'like a reply': { method: 'POST', path: (cell) => `/comments/${cell.reply}/like`, scope: 'comments.write' },
  'unlike a comment': {
    method: 'DELETE',
    path: (cell) => `/comments/${cell.comment}/like`,
    scope: 'comments.write',
  },
  like: { method: 'POST', path: (cell) => `/posts/${cell.id}/like`, scope: 'posts.write' },
  unlike: { method: 'DELETE', path: (cell) => `/posts/${cell.id}/like`, scope: 'posts.write' },
  draw: {
    method: 'POST',
    path: (cell) => `/posts/${cell.id}/whiteboards`,
    body: { strokes },
    scope: 'posts.write',
  },
  'delete a reply': { method: 'DELETE', path: (cell) => `/comments/${cell.reply}`, scope: 'comments.write' },
} as const satisfies Record<string, Ask>;
type Name = keyof typeof asks;

function isName(name: string): name is Name {
  return name in asks;
}
const names = Object.keys(asks).filter(isName);

const send = (visitor: Visitor, name: Name, cell: Cell) => {
  const ask: Ask = asks[name];
  return visitor.send(ask.path(cell), {
    method: ask.method,
    ...(ask.body === undefined ? {} : { body: ask.body }),
  });
};

/** The response due to a signed-in caller. */
function expected(who: Who, name: Name, kind: Kind): number {
  if (name === 'comment' && who === 'a viewer without posts.comment') return 403;
  const given: readonly Kind[] = reads[who];
  if (!given.includes(kind)) return 404;
  if (name === 'comment') return kind === 'draft' ? 409 : 201;
  if (name === 'draw') return 201;
  if (name === 'edit') return who === 'who commented' ? 200 : 403;
  if (name === 'delete a reply') return who === 'who commented' || moderators.includes(who) ? 204 : 403;
  return 200;
}

describe('a signed-in caller', () => {
  // COMMENT-3
  test.each(everybody)('%s is answered below a post as the read rule of the post says', async (who) => {
    const visitor = people.get(who) ?? library.anonymous();
    const differing: unknown[] = [];
    for (const kind of kinds) {
      const cell = cellOf(kind);
      for (const name of names) {
        // What a moderator takes away is not there for the next caller.
        const fresh =
          name === 'delete a reply' ? { ...cell, reply: await addComment(cell.id, cell.comment) } : cell;
        const { status } = await send(visitor, name, fresh);
        if (status !== expected(who, name, kind))
          differing.push([kind, name, status, expected(who, name, kind)]);
      }
    }
    expect(differing).toEqual([]);
  });

  // COMMENT-3, POST-4
  test('cannot tell an unreadable post from one that is not there', async () => {
    for (const name of names) {
      const [unknown, ...unreadable] = [
        await send(stranger, name, nowhere),
        await send(stranger, name, cellOf('private')),
        await send(stranger, name, cellOf('draft')),
        await send(stranger, name, cellOf('deleted')),
      ];
      expect(unknown?.status).toBe(404);
      for (const answer of unreadable)
        expect([name, answer.status, answer.text]).toEqual([name, 404, unknown?.text]);
    }
  });

  test('acting in somebody’s name comments in that name', async () => {
    const mask = people.get('an administrator acting as a stranger') ?? library.anonymous();
    const comment = await mask.ok('createComment', {
      params: { id: cellOf('public').id },
      body: { body: 'behind a mask' },
    });
    expect(comment.author).toMatchObject({ ref: stranger.ref });
    expect(
      (await stranger.ok('updateComment', { params: { id: comment.id }, body: { body: 'z' } })).body,
    ).toBe('z');
  });
});

describe('an anonymous caller', () => {
  // COMMENT-3
  test('reads below public posts while public mode is on, and below no other; writing is 401', async () => {
    await library.setPublicMode(true);
    for (const kind of kinds) {
      for (const name of names) {
        const { status } = await send(library.anonymous(), name, cellOf(kind));
        const outcome = asks[name].method === 'GET' ? (kind === 'public' ? 200 : 404) : 401;
        expect([kind, name, status]).toEqual([kind, name, outcome]);
      }
    }
  });

  test('is refused everything while it is off', async () => {
    await library.setPublicMode(false);
    for (const name of names)
      expect([name, (await send(library.anonymous(), name, cellOf('public'))).status]).toEqual([name, 401]);
  });
});

describe('a bearer token', () => {
  const minted = async (account: Account, scopes: TokenScope[]) => {
    const { token } = await account.ok('createToken', { body: { name: 'script', scopes } });
    return visit(library.address, { authorization: `Bearer ${token}` });
  };

  test.each(['read', 'comments.write', 'posts.write', 'assets.write', 'fields.admin', 'admin'] as const)(
    'with the scope %s reaches what is of that scope, and is told which one is missing',
    async (scope) => {
      const script = await minted(stranger, [scope]);
      for (const name of names) {
        const answer = await send(script, name, cellOf('org-only'));
        const reaches = scope === 'admin' || asks[name].scope === scope;
        const outcome = reaches ? expected('a stranger', name, 'org-only') : 403;
        expect([name, answer.status]).toEqual([name, outcome]);
        const missed = JSON.stringify({ error: `missing scope ${asks[name].scope}` });
        expect([name, answer.text === missed]).toEqual([name, !reaches]);
      }
    },
  );

  // TOKEN-5
  test('adds no capability and no right to read', async () => {
    const all: TokenScope[] = ['read', 'comments.write', 'posts.write', 'admin'];
    const script = await minted(stranger, all);
    for (const name of names)
      expect([name, (await send(script, name, cellOf('private'))).status]).toEqual([name, 404]);
    const viewer = people.get('a viewer without posts.comment');
    const { token } = await (viewer ?? stranger).ok('createToken', { body: { name: 'script', scopes: all } });
    const viewing = visit(library.address, { authorization: `Bearer ${token}` });
    expect((await send(viewing, 'comment', cellOf('public'))).text).toBe(
      '{"error":"missing capability posts.comment"}',
    );
  });
});

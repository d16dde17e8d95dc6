import { createHash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql, type Updateable } from 'kysely';
import type { Tables } from '../../src/platform/database/tables.ts';
import { subtitlesKey } from '../../src/platform/storage/object-key.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, upload } from '../support/library.ts';
import { actAs, addAccount, anotherSession, bearer, setRole } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { type Cells, DELETED_AT, makeCells, must } from './cells.ts';
import type { AssetCell, CollectionCell, Person, PostCell } from './due.ts';
import {
  assetSharees,
  type CallerKind,
  callerKinds,
  type Disguise,
  disguises,
  type TeamName,
  teams,
} from './matrix.ts';
import type { Other } from './others.ts';

/** Stores every cell (cells.ts): the bytes by real uploads, the rows by SQL. */

export const WIP = '00000000-0000-4000-8000-000000000201';
export const PUBLISHED = '00000000-0000-4000-8000-000000000202';

/** A caller, and the line of the table that applies. */
export interface Caller {
  name: CallerKind | Disguise | Other;
  kind: CallerKind;
  /** The scopes of a bearer token; null for sessions and anonymous callers. */
  scopes: readonly string[] | null;
  /** Null for anonymous visitors. */
  ref: number | null;
  visitor: Visitor;
}

export interface World extends Cells {
  library: Library;
  callers: ReadonlyMap<string, Caller>;
  teamIds: ReadonlyMap<TeamName, string>;
  refs: Readonly<Record<Person, number | null>>;
  refOf(kind: CallerKind): number;
  hash: string;
}

const origins = ['password', 'ldap', 'oidc', 'saml', 'scim'] as const;

/** Makes an account one of another origin, which changes nothing about what it may see and do (SSO-70). */
async function setOrigin({ deps: { db } }: Library, ref: number): Promise<void> {
  const origin = origins[ref % origins.length] ?? 'password';
  if (origin === 'password') return;
  const provider = origin === 'ldap' ? 'ldap' : `the ${origin}`;
  const columns = { provider, provider_subject: `subject ${ref}`, role_provider: provider };
  await db.updateTable('users').set(columns).where('ref', '=', ref).execute();
  if (origin === 'scim')
    await db
      .insertInto('scim_users')
      .values({ user_ref: ref, provider, external_id: `id ${ref}` })
      .execute();
  if (origin === 'oidc' || origin === 'saml')
    await db
      .insertInto('user_identities')
      .values({ user_ref: ref, kind: origin, issuer: 'https://login.example', subject: `${ref}`, provider })
      .execute();
}

/**
 * Creates an account with a session but without a password, because hashing one is slow. The origins of accounts alternate.
 */
export async function enter(library: Library, username: string, role = 'member'): Promise<Account> {
  const ref = await addAccount(library, username);
  await setOrigin(library, ref);
  if (role !== 'member') await setRole(library, { ref }, role);
  return { ...(await anotherSession(library, { ref })), ref, username };
}

/** Creates all teams, each without members. */
export async function addTeams(library: Library): Promise<Map<TeamName, string>> {
  const { db } = library.deps;
  const ids = new Map<TeamName, string>();
  for (const name of teams) if (name !== 'none') ids.set(name, randomUUID());
  await db
    .insertInto('teams')
    .values([...ids].map(([slug, id]) => ({ id, slug, name: slug })))
    .execute();
  const idOf = (name: TeamName) => must(ids.get(name), name);
  await db
    .insertInto('team_parents')
    .values([
      { team_id: idOf('team'), parent_id: idOf('above') },
      { team_id: idOf('below'), parent_id: idOf('team') },
    ])
    .execute();
  return ids;
}

type Scope = TeamName | 'everywhere';
const grants: [CallerKind, string, Scope][] = [
  ['posts.admin', 'posts.admin', 'everywhere'],
  ['posts.admin in the team', 'posts.admin', 'team'],
  ['posts.admin in the team above', 'posts.admin', 'above'],
  ['assets.admin', 'assets.admin', 'everywhere'],
  ['assets.admin in the team', 'assets.admin', 'team'],
  ['assets.admin in the team above', 'assets.admin', 'above'],
  ['assets.admin in the team below', 'assets.admin', 'below'],
  ['assets.admin in the team above, revoked in the team', 'assets.admin', 'above'],
  ['teams.write in the team', 'teams.write', 'team'],
  ['teams.write in the team below', 'teams.write', 'below'],
  ['content.read.all', 'content.read.all', 'everywhere'],
  ['content.read.all in the team', 'content.read.all', 'team'],
  ['system.admin', 'system.admin', 'everywhere'],
];
const administration = ['posts.admin', 'assets.admin', 'content.read.all', 'system.admin'];

/** Creates `chief`, a role without capabilities, below an administering one, below the members' role. */
async function addInheritingRole(library: Library): Promise<void> {
  const { db } = library.deps;
  const deputy = randomUUID();
  await sql`insert into roles (id, code, label, parent_id)
    select ${deputy}::uuid, 'deputy', 'Deputy', id from roles where code = 'member'`.execute(db);
  const chief = { id: randomUUID(), code: 'chief', label: 'Chief', parent_id: deputy };
  await db.insertInto('roles').values(chief).execute();
  await db
    .insertInto('role_capabilities')
    .values(['posts.admin', 'assets.admin'].map((capability) => ({ role_id: deputy, capability })))
    .execute();
}

/** Creates the account of every kind of caller, with the capabilities of its line in the table. */
async function addPeople(library: Library, teamIds: Map<TeamName, string>): Promise<Map<string, Account>> {
  const { db } = library.deps;
  const people = new Map<string, Account>();
  await addInheritingRole(library);
  for (const name of [...callerKinds, 'administrator until yesterday', 'administrator, revoked', 'hidden']) {
    if (name === 'anonymous') continue;
    const inherits = name === 'administrator by an inherited role';
    people.set(name, await enter(library, name, inherits ? 'chief' : 'member'));
  }
  const refOf = (name: string) => must(people.get(name), name).ref;
  const teamOf = (scope: Scope) => (scope === 'everywhere' ? null : must(teamIds.get(scope), scope));
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  await db
    .insertInto('user_capability_grants')
    .values([
      ...grants.map(([name, capability, scope]) => ({
        user_ref: refOf(name),
        capability,
        team_id: teamOf(scope),
      })),
      ...administration.flatMap((capability) =>
        [null, teamOf('above')].flatMap((team_id) => [
          { user_ref: refOf('administrator until yesterday'), capability, team_id, expires_at: yesterday },
          { user_ref: refOf('administrator, revoked'), capability, team_id },
        ]),
      ),
    ])
    .execute();
  await db
    .insertInto('user_capability_revokes')
    .values([
      ...administration.map((capability) => ({ user_ref: refOf('administrator, revoked'), capability })),
      {
        user_ref: refOf('assets.admin in the team above, revoked in the team'),
        capability: 'assets.admin',
        team_id: teamOf('team'),
      },
      // An expired denial has no effect.
      { user_ref: refOf('posts.admin'), capability: 'posts.admin', expires_at: yesterday },
      {
        user_ref: refOf('assets.admin in the team'),
        capability: 'assets.admin',
        team_id: teamOf('team'),
        expires_at: yesterday,
      },
    ])
    .execute();
  await db
    .insertInto('team_members')
    .values([
      { team_id: must(teamOf('team'), 'team'), user_ref: refOf('member of the team') },
      { team_id: must(teamOf('above'), 'team'), user_ref: refOf('member of the team above') },
      { team_id: must(teamOf('below'), 'team'), user_ref: refOf('member of the team below') },
    ])
    .execute();
  await db
    .insertInto('user_follows')
    .values([
      { follower_user_ref: refOf('follower'), followed_user_ref: refOf('author') },
      { follower_user_ref: refOf('author'), followed_user_ref: refOf('followed by the author') },
      { follower_user_ref: refOf('stranger'), followed_user_ref: refOf('owner') },
    ])
    .execute();
  const set = (name: string, columns: Updateable<Tables['users']>) =>
    db.updateTable('users').set(columns).where('ref', '=', refOf(name)).execute();
  await set('opted in to mature', { preferences: '{"mature_content":{"show":true}}' });
  await set('keeps placeholders', { preferences: '{"feed_filters":{"show_restricted":true}}' });
  // A profile name takes precedence over a full name, and a full name over the user name (IDENTITY-2).
  await set('author', { display_name: 'The Author', fullname: 'Anna Author' });
  await set('owner', { fullname: 'Olga Owner' });
  await set('hidden', { hide_from_anonymous: true });
  return people;
}

/** Signs a disguised caller in. */
async function visitorOf(
  library: Library,
  people: Map<string, Account>,
  name: Disguise,
): Promise<{ visitor: Visitor; ref: number }> {
  const person = (who: string) => must(people.get(who), who);
  const [author, owner, admin] = [person('author'), person('owner'), person('system.admin')];
  switch (name) {
    case 'impersonator of the author':
      return { visitor: await actAs(library, admin, author), ref: author.ref };
    case 'impersonator of the owner':
      return { visitor: await actAs(library, admin, owner), ref: owner.ref };
    case 'token of the author, scope read':
      return { visitor: await bearer(library, author, ['read']), ref: author.ref };
    case 'token of the author, without scope read':
      return { visitor: await bearer(library, author, ['posts.write']), ref: author.ref };
    case 'token of the owner, scope admin':
      return { visitor: await bearer(library, owner, ['admin']), ref: owner.ref };
    default:
      return { visitor: person(name), ref: person(name).ref };
  }
}

async function callersOf(library: Library, people: Map<string, Account>): Promise<Map<string, Caller>> {
  const callers = new Map<string, Caller>();
  for (const kind of callerKinds) {
    const account = people.get(kind);
    const visitor = account ?? library.anonymous();
    callers.set(kind, { name: kind, kind, scopes: null, ref: account?.ref ?? null, visitor });
  }
  for (const name of disguiseNames) {
    const { kind, scopes }: { kind: CallerKind; scopes?: readonly string[] } = disguises[name];
    const { visitor, ref } = await visitorOf(library, people, name);
    callers.set(name, { name, kind, scopes: scopes ?? null, ref, visitor });
  }
  return callers;
}

export const disguiseNames: readonly Disguise[] = [
  'impersonator of the author',
  'impersonator of the owner',
  'token of the author, scope read',
  'token of the author, without scope read',
  'token of the owner, scope admin',
  'administrator until yesterday',
  'administrator, revoked',
];

type Rendered = AssetCell['rendered'];

/** Uploads three real files: one with all renditions including the scrub strip, one with only `col`, one with none. */
async function addFiles(library: Library, owner: Account): Promise<Record<Rendered, string>> {
  const { db } = library.deps;
  const whole = await upload(owner, await jpeg(900, 600));
  const half = await upload(owner, await jpeg(400, 300, { seed: 2 }));
  const text = await upload(owner, plainFile(), {}, 'notes.txt');
  await library.runJobs();
  const hashes = {
    all: must(whole.file_hash, 'hash'),
    col: must(half.file_hash, 'hash'),
    nothing: must(text.file_hash, 'hash'),
  };
  await sql`update files set renditions = renditions
    || jsonb_build_object('sprites.vtt', (renditions -> 'col') || '{"type": "text/vtt"}',
      'hls/master.m3u8', (renditions -> 'col') || '{"type": "application/vnd.apple.mpegurl"}',
      'tiles', (renditions -> 'col') || '{"type": "image/jpeg", "width": 60, "height": 40}'), mime = 'video/mp4'
    where hash = ${hashes.all}`.execute(db);
  await sql`update files set renditions = jsonb_build_object('col', renditions -> 'col')
    where hash = ${hashes.col}`.execute(db);
  await sql`delete from assets`.execute(db);
  return hashes;
}

const CHUNK = 1500;

export async function inChunks<T>(
  rows: readonly T[],
  write: (chunk: T[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < rows.length; from += CHUNK) await write(rows.slice(from, from + CHUNK));
}

/** Creation times: each a second after the previous one. */
const moment = (index: number) => new Date(Date.UTC(2026, 0, 2) + index * 1000).toISOString();

type Inserting = Pick<World, 'library' | 'teamIds' | 'refs' | 'refOf'> & { hashes: Record<Rendered, string> };

/** When and where every asset was taken. */
const taken = { taken_at: '2019-12-24T12:00:00Z', taken_on: '2019-12-24', latitude: 48, longitude: 11 };

async function insertAssets(world: Inserting, cells: readonly AssetCell[]): Promise<void> {
  const { db } = world.library.deps;
  const rows = cells.map((cell, index) => ({
    ...taken,
    id: cell.id,
    owner_user_ref: world.refs[cell.owner],
    title: 'what nobody else may read',
    asset_type: 1,
    file_hash: world.hashes[cell.rendered],
    file_name: 'a.jpg',
    team_id: world.teamIds.get(cell.team) ?? null,
    status: cell.status,
    processing_status: cell.processing,
    sensitivity: cell.sensitivity,
    mature: cell.mature,
    created_at: moment(index),
    deleted_at: cell.deleted ? DELETED_AT : null,
    deleted_by_user_ref: cell.deletedBy === null ? null : world.refOf(cell.deletedBy),
  }));
  await inChunks(rows, (chunk) => db.insertInto('assets').values(chunk).execute());
  const shares = cells.flatMap(({ id, share }) => {
    if (share === null) return [];
    const expires_at = share === 'live' ? null : DELETED_AT;
    return assetSharees.map((name) => ({ asset_id: id, user_ref: world.refOf(name), expires_at }));
  });
  await inChunks(shares, (chunk) => db.insertInto('asset_shares').values(chunk).execute());
  const pairs = cells.flatMap(({ id, related }) =>
    related !== undefined && id < related.id ? [{ asset_id: id, related_id: related.id }] : [],
  );
  await inChunks(pairs, (chunk) => db.insertInto('related_assets').values(chunk).execute());
  const stacked = pairs.flatMap(({ asset_id: stack_id, related_id }) =>
    [stack_id, related_id].map((asset_id, place) => ({ stack_id, asset_id, place })),
  );
  await inChunks(stacked, (chunk) => db.insertInto('stacked_assets').values(chunk).execute());
  const tags = cells.map(({ id }) => ({ asset_id: id, value: 'matrix', source: 'manual' as const }));
  await inChunks(tags, (chunk) => db.insertInto('asset_tags').values(chunk).execute());
}

/** Adds subtitles to every asset, which share one file. */
async function insertSubtitles({ library }: Inserting, cells: readonly AssetCell[]): Promise<void> {
  const { db, storage } = library.deps;
  const text = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nwhat nobody else may read\n';
  const file_hash = createHash('sha256').update(text).digest('hex');
  const path = join(storage.incomingDir, 'subtitles');
  await writeFile(path, text);
  await storage.adopt(path, subtitlesKey(file_hash));
  const track = {
    lang: 'de',
    file_hash,
    size_bytes: text.length,
    source_format: 'vtt',
    confidence: 1,
  } as const;
  const rows = cells.map(({ id }) => ({ asset_id: id, ...track }));
  await inChunks(rows, (chunk) => db.insertInto('subtitles').values(chunk).execute());
}

async function insertPosts(world: Inserting, cells: readonly PostCell[]): Promise<void> {
  const rows = cells.map((cell, index) => ({
    id: cell.id,
    author_user_ref: must(world.refs[cell.author], cell.author),
    visibility: cell.visibility,
    state_id: cell.draft ? WIP : PUBLISHED,
    team_id: world.teamIds.get(cell.team) ?? null,
    cover_asset_id: cell.cover?.id ?? null,
    cover_thumbnail_asset_id: cell.thumbnail?.id ?? null,
    cover_focal_x: cell.hasFocal ? 0.25 : null,
    cover_focal_y: cell.hasFocal ? 0.75 : null,
    // A focal point belongs to the picture for which it was set: the chosen cover, otherwise the first member.
    cover_focal_asset_id: cell.hasFocal ? (cell.cover?.id ?? cell.members[0]?.id ?? null) : null,
    comments_enabled: cell.thread === null,
    tags: [cell.tag],
    posted_at: moment(index),
    deleted_at: cell.deleted ? DELETED_AT : null,
    deleted_by_user_ref: cell.deletedBy === null ? null : world.refOf(cell.deletedBy),
  }));
  const members = cells.flatMap((cell) =>
    cell.members.map((asset, sort_order) => ({ post_id: cell.id, asset_id: asset.id, sort_order })),
  );
  // Shares every post, because shares have no effect unless the visibility requires one.
  const shared = cells.filter(({ unshared }) => unshared !== true);
  const shares = shared.map(({ id }) => ({ post_id: id, user_ref: world.refOf('sharee') }));
  const { db } = world.library.deps;
  await inChunks(rows, (chunk) => db.insertInto('posts').values(chunk).execute());
  await inChunks(members, (chunk) => db.insertInto('post_members').values(chunk).execute());
  await inChunks(shares, (chunk) => db.insertInto('post_shares').values(chunk).execute());
}

async function insertCollections(world: Inserting, cells: readonly CollectionCell[]): Promise<void> {
  const rows = cells.map((cell, index) => ({
    id: cell.id,
    owner_user_ref: must(world.refs[cell.owner], cell.owner),
    name: 'a collection',
    visibility: cell.visibility,
    cover_post_id: cell.cover?.id ?? null,
    expires_at: cell.expired ? DELETED_AT : null,
    created_at: moment(index),
    deleted_at: cell.deleted ? DELETED_AT : null,
    deleted_by_user_ref: cell.deletedBy === null ? null : world.refOf(cell.deletedBy),
  }));
  const places = cells.flatMap(({ id, posts }) =>
    posts.map((post, index) => ({
      collection_id: id,
      post_id: post.id,
      position: (index + 1) * 1000,
      added_by: world.refOf('author'),
    })),
  );
  const files = cells.flatMap((cell) =>
    cell.files.map((asset, index) => ({
      collection_id: cell.id,
      asset_id: asset.id,
      position: index * 1000 + 500,
      added_by: world.refOf('author'),
    })),
  );
  const shared = cells.filter(({ unshared }) => unshared !== true);
  const shares = shared.map(({ id }) => ({ collection_id: id, user_ref: world.refOf('sharee') }));
  const { db } = world.library.deps;
  await inChunks(rows, (chunk) => db.insertInto('collections').values(chunk).execute());
  await inChunks(places, (chunk) => db.insertInto('collection_posts').values(chunk).execute());
  await inChunks(files, (chunk) => db.insertInto('collection_assets').values(chunk).execute());
  await inChunks(shares, (chunk) => db.insertInto('collection_shares').values(chunk).execute());
}

async function insertThreads({ library, refs, refOf }: Inserting, cells: readonly PostCell[]) {
  const { db } = library.deps;
  const writers = [refs.hidden, refs.owner, null, refOf('commenter')];
  const commenter = refOf('commenter');
  const threads = cells.flatMap(({ id, thread }) => (thread === null ? [] : [{ post_id: id, ...thread }]));
  const rows = threads.flatMap(({ post_id, roots, deletedRoot, reply, byCommenter }) => {
    const comment = (id: string, author_user_ref: number | null, age: number) => ({
      id,
      post_id,
      author_user_ref,
      created_at: moment(age),
      body: 'well',
    });
    return [
      ...roots.map((root, place) => comment(root, writers[place] ?? null, 100 - place)),
      { ...comment(deletedRoot, commenter, 200), deleted_at: DELETED_AT },
      { ...comment(reply, refs.author, 300), parent_id: byCommenter },
    ];
  });
  await inChunks(rows, (chunk) => db.insertInto('comments').values(chunk).execute());
  const strokes = JSON.stringify([{ points: [[0, 0]] }]);
  const boards = threads.map(({ board, post_id }) => ({
    id: board,
    post_id,
    author_user_ref: commenter,
    strokes,
  }));
  await inChunks(boards, (chunk) => db.insertInto('whiteboards').values(chunk).execute());
  const likes = threads.map(({ post_id }) => ({ post_id, user_ref: commenter }));
  await inChunks(likes, (chunk) => db.insertInto('post_likes').values(chunk).execute());
}

/** POST-51: the author has pinned these, more than the operation allows. */
async function insertPins({ library, refOf }: Inserting, cells: readonly PostCell[]) {
  const pinned = cells.filter(({ author, tag }) => author === 'author' && tag === 'sample');
  const rows = pinned.map(({ id }) => ({ post_id: id, user_ref: refOf('author') }));
  await inChunks(rows, (chunk) => library.deps.db.insertInto('post_pins').values(chunk).execute());
}

/** Opens the whole world. */
export async function makeWorld(library: Library): Promise<World> {
  const { db } = library.deps;
  const teamIds = await addTeams(library);
  const people = await addPeople(library, teamIds);
  const refOf = (name: string) => must(people.get(name), name).ref;
  const gone = await enter(library, 'gone');
  await db.deleteFrom('users').where('ref', '=', gone.ref).execute();
  const refs = {
    author: refOf('author'),
    owner: refOf('owner'),
    hidden: refOf('hidden'),
    gone: gone.ref,
    nobody: null,
  };
  const hashes = await addFiles(library, must(people.get('owner'), 'owner'));

  const cells = makeCells();
  const { assets, posts, collections } = cells;
  const inserting = { library, teamIds, refs, refOf, hashes };
  await insertAssets(inserting, assets);
  await insertSubtitles(inserting, assets);
  await insertPosts(inserting, posts);
  await insertThreads(inserting, posts);
  await insertPins(inserting, posts);
  await insertCollections(inserting, collections);
  await sql`vacuum analyze`.execute(db);
  const callers = await callersOf(library, people);
  return { library, ...cells, callers, teamIds, refs, refOf, hash: hashes.all };
}

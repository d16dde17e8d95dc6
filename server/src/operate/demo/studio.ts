import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient, routesOf } from '@vitrine/contract/client';
import { basePath, type Operations, operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { serverFolder } from '../../platform/installation.ts';
import { drawFace } from './faces.ts';
import { people } from './people.ts';
import { seeded } from './random.ts';

type Api = Client<Operations>;

const routes = routesOf(operations);

/** Signs in to the service and returns a client with that session. */
async function signIn(address: string, username: string, password: string): Promise<Api> {
  const baseUrl = `${address}${basePath}`;
  const response = await fetch(`${baseUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  if (!response.ok) throw new Error(`${username} cannot sign in: ${await response.text()}`);
  const cookie = response.headers.getSetCookie().map((line) => line.split(';')[0]);
  return createClient<Operations>(routes, { baseUrl, headers: { cookie: cookie.join('; ') } });
}

interface SentFile {
  readonly title: string;
  readonly sensitivity: 'public' | 'restricted';
  readonly type?: 'image/jpeg' | 'video/mp4';
}

async function sendFile(
  api: Api,
  bytes: Buffer,
  { title, sensitivity, type = 'image/jpeg' }: SentFile,
): Promise<string> {
  const form = new FormData();
  form.append('title', title);
  form.append('sensitivity', sensitivity);
  form.append(
    'file',
    new Blob([new Uint8Array(bytes)], { type }),
    type === 'video/mp4' ? 'film.mp4' : 'picture.jpg',
  );
  const { id } = await api.call('createAsset', { body: form });
  return id;
}

/** Gives an account a profile picture unless it has one. */
async function addFace(api: Api, title: string, seed: number): Promise<void> {
  const { ref, avatar_asset_id: face } = await api.call('getAccountProfile');
  if (face !== null) return;
  const id = await sendFile(api, await drawFace(seeded(seed)), { title, sensitivity: 'public' });
  await api.call('updateUser', { params: { ref }, body: { avatar_asset_id: id } });
}

interface Work {
  readonly id: string;
  readonly author: string;
  readonly title: string;
}

/** Returns the posts of the sample library, the oldest first. */
async function readPosts({ db }: Pick<Deps, 'db'>): Promise<Work[]> {
  const { rows } = await sql<Work>`
    select p.id, u.username as author, p.title from posts p join users u on u.ref = p.author_user_ref
    where p.deleted_at is null order by p.posted_at, p.id`.execute(db);
  return rows;
}

const teams = [
  {
    name: 'Print workshop',
    description: 'Screen prints, posters and everything with ink.',
    members: ['tomas', 'jonas', 'ines'],
  },
  {
    name: 'Outdoors',
    description: 'Landscapes, the sea and the weather.',
    members: ['mara', 'amara', 'yuki'],
  },
] as const;

const collections = [
  {
    name: 'By the sea',
    by: 'amara',
    titles: ['Slack water', 'North harbour', 'Evening ferry', 'Harbour chart'],
  },
  { name: 'After dark', by: 'yuki', titles: ['Last train', 'Power cut', 'Far from town', 'Night garden'] },
  {
    name: 'For the wall',
    by: 'tomas',
    titles: ['Quarter circles', 'Off-register', 'Two valleys', 'Dahlias'],
  },
] as const;

/** The accounts and posts of the sample library. */
interface Company {
  readonly demo: Api;
  apiOf(username: string): Api;
  refOf(username: string): number;
  postOf(title: string): Work | undefined;
}

async function addCollections({ apiOf, postOf }: Company): Promise<void> {
  for (const { name, by, titles } of collections) {
    const api = apiOf(by);
    const { id } = await api.call('createCollection', { body: { name, visibility: 'public' } });
    for (const title of titles) {
      const post = postOf(title);
      if (post !== undefined) await api.call('addToCollection', { params: { id, post_id: post.id } });
    }
  }
}

async function addTeams({ demo, apiOf, refOf }: Company, posts: readonly Work[]): Promise<void> {
  for (const { name, description, members } of teams) {
    const { id } = await demo.call('createTeam', { body: { name, description } });
    for (const username of members)
      await demo.call('addTeamMember', { params: { id, user_ref: refOf(username) } });
    const own = posts.filter(({ author }) => members.some((username) => username === author));
    for (const { id: post, author } of own.slice(-4))
      await apiOf(author).call('updatePost', { params: { id: post }, body: { team_id: id } });
  }
}

async function addFollows({ demo, apiOf, refOf }: Company): Promise<void> {
  for (const { username } of people.slice(0, 4)) {
    await demo.call('followUser', { params: { ref: refOf(username) } });
    if (username !== 'mara') await apiOf(username).call('followUser', { params: { ref: refOf('mara') } });
  }
}

async function addReplies({ apiOf, postOf }: Company): Promise<void> {
  const post = postOf('Above the tree line');
  if (post === undefined) return;
  const params = { id: post.id };
  const question = { body: 'Where exactly was this, @mara?' };
  const { id } = await apiOf('amara').call('createComment', { params, body: question });
  const answer = { body: 'Above the second hut, an hour before anyone else was up.', parent_id: id };
  await apiOf('mara').call('createComment', { params, body: answer });
}

/** Adds two reviews, of which one is decided, and a share link. */
async function addReviews({ demo, apiOf, refOf, postOf }: Company): Promise<void> {
  const poster = postOf('Poster, spring season');
  const tiles = postOf('Tiles for a stairwell');
  if (poster === undefined || tiles === undefined) return;
  const { ref } = await demo.call('getSessionUser');
  const tomas = apiOf('tomas');
  const { id } = await tomas.call('requestReview', {
    params: { id: poster.id },
    body: { reviewers: [refOf('ines')], note: 'Is the type large enough?' },
  });
  await apiOf('ines').call('decideReview', {
    params: { id },
    body: { decision: 'approved', note: 'It reads well from across the street.' },
  });
  await tomas.call('createPostLink', {
    params: { id: poster.id },
    body: { label: 'For the printer', allow_download: true },
  });
  await tomas.call('requestReview', {
    params: { id: tiles.id },
    body: { reviewers: [ref, refOf('jonas')], note: 'The commission is due on Friday.' },
  });
}

/** Adds a restricted file of the administrator, and a request for it. */
async function addRequest({ demo, apiOf }: Company): Promise<void> {
  const picture = await drawFace(seeded(97));
  const id = await sendFile(demo, picture, { title: 'Portrait, not released', sensitivity: 'restricted' });
  await apiOf('jonas').call('requestAccess', { params: { id }, body: { reason: 'For the garden book.' } });
}

/** Adds a post with a film, which was drawn for it. */
async function addFilm({ apiOf }: Company): Promise<void> {
  const amara = apiOf('amara');
  const bytes = await readFile(join(serverFolder, 'demo', 'light-on-water.mp4'));
  const title = 'Light on water';
  const id = await sendFile(amara, bytes, { title, sensitivity: 'public', type: 'video/mp4' });
  const words = { title, description: 'Eight seconds from the mole.', tags: ['sea', 'light', 'film'] };
  await amara.call('createPost', { body: { ...words, visibility: 'public', members: [{ asset_id: id }] } });
}

interface MissingParts {
  films: boolean;
  collections: boolean;
  teams: boolean;
  follows: boolean;
  replies: boolean;
  reviews: boolean;
  requests: boolean;
}

/** Returns which parts the library does not have yet. */
async function readMissing({ db }: Pick<Deps, 'db'>): Promise<MissingParts | undefined> {
  const { rows } = await sql<MissingParts>`
    select not exists (
        select from assets a join asset_types t on t.ref = a.asset_type where t.code = 'video') as films,
      not exists (select from collections) as collections, not exists (select from teams) as teams,
      not exists (select from user_follows) as follows,
      not exists (select from comments where parent_id is not null) as replies,
      not exists (select from reviews) as reviews, not exists (select from resource_requests) as requests`.execute(
    db,
  );
  return rows[0];
}

/**
 * Adds a film, faces, teams, collections, follows, replies, a request, reviews and a share link to the sample library. Uses the API, so
 * that everything has its notifications. Leaves out each part that the library has already.
 */
export async function addStudio(deps: Pick<Deps, 'db'>, address: string, password: string): Promise<void> {
  const missing = await readMissing(deps);
  const posts = await readPosts(deps);
  const accounts = new Map<string, { api: Api; ref: number }>();
  for (const [index, { username, displayName }] of people.entries()) {
    const api = await signIn(address, username, password);
    accounts.set(username, { api, ref: (await api.call('getSessionUser')).ref });
    await addFace(api, displayName, 71 + index);
  }
  const accountOf = (username: string) => {
    const account = accounts.get(username);
    if (account === undefined) throw new Error(`the sample library has no account ${username}`);
    return account;
  };
  const company: Company = {
    demo: await signIn(address, 'demo', password),
    apiOf: (username) => accountOf(username).api,
    refOf: (username) => accountOf(username).ref,
    postOf: (title) => posts.find((post) => post.title === title),
  };
  if (missing?.collections) await addCollections(company);
  if (missing?.follows) await addFollows(company);
  if (missing?.replies) await addReplies(company);
  if (missing?.reviews) await addReviews(company);
  if (missing?.requests) await addRequest(company);
  if (missing?.films) await addFilm(company);
  if (missing?.teams) await addTeams(company, posts);
}

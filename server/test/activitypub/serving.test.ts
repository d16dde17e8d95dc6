import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeSetting } from '../../src/settings.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import type { Json } from './remote.ts';

let library: Library;
let root: Account;
let ada: Account;

async function read(path: string, accept = 'application/activity+json') {
  const url = path.startsWith('http') ? path : library.address + path;
  const response = await fetch(url, { headers: { accept }, redirect: 'manual' });
  const text = await response.text();
  return { status: response.status, text, location: response.headers.get('location') };
}

async function readJson(path: string): Promise<Json> {
  const { status, text } = await read(path);
  expect(status, text).toBe(200);
  return JSON.parse(text) as Json;
}

const webFinger = (name: string) =>
  `/.well-known/webfinger?resource=acct:${name}@${new URL(library.address).host}`;

async function actorOf(name: string): Promise<Json> {
  const { links } = (await readJson(webFinger(name))) as { links: { rel: string; href: string }[] };
  return readJson(links.find(({ rel }) => rel === 'self')?.href ?? '');
}

beforeAll(async () => {
  library = await openLibrary({ VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on' });
  await writeSetting(library.database.db, 'base_url', library.address);
  root = await library.join('root', 'admin');
  ada = await library.join('ada');
  await library.setPublicMode(true);
});

describe('ActivityPub', () => {
  // AP-1
  test('is off by default, and again when it is switched off or visitors are shut out', async () => {
    const paths = [
      webFinger('ada'),
      '/.well-known/nodeinfo',
      '/ap/nodeinfo/2.1',
      '/ap/users/00000000-0000-4000-8000-000000000000',
    ];
    const statuses = () => Promise.all(paths.map(async (path) => (await read(path)).status));
    expect(await statuses()).toEqual([404, 404, 404, 404]);
    const post = () =>
      fetch(`${library.address}/ap/inbox`, {
        method: 'POST',
        headers: { 'content-type': 'application/activity+json' },
        body: '{}',
      });
    expect((await post()).status).toBe(404);
    expect(await root.ok('getActivityPub')).toMatchObject({ enabled: false, serving: false });
    const early = await ada.refused('updateFollowableAccount', { body: { followable: true } });
    expect(early.status).toBe(409);

    const on = await root.ok('updateActivityPub', { body: { enabled: true } });
    expect(on).toMatchObject({ enabled: true, serving: true, address: library.address });
    expect(await statuses()).toEqual([404, 200, 200, 404]);
    await library.setPublicMode(false);
    expect(await statuses()).toEqual([404, 404, 404, 404]);
    await library.setPublicMode(true);
  });

  // AP-2, AP-4
  test('serves only the accounts that opted in', async () => {
    expect((await read(webFinger('ada'))).status).toBe(404);
    const host = new URL(library.address).host;
    const own = await ada.ok('updateFollowableAccount', { body: { followable: true } });
    expect(own).toEqual({
      available: true,
      followable: true,
      handle: `@ada@${host}`,
      followers_count: 0,
      likes_count: 0,
      boosts_count: 0,
    });
    const actor = await actorOf('ada');
    expect(actor).toMatchObject({
      type: 'Person',
      preferredUsername: 'ada',
      url: `${library.address}/users/ada`,
    });
    expect(actor.id).toMatch(/\/ap\/users\/[0-9a-f-]{36}$/);
    expect(JSON.stringify(actor)).toContain('BEGIN PUBLIC KEY');
    expect(await actorOf('ADA')).toEqual(actor);
    expect((await read(webFinger('root'))).status).toBe(404);
    expect(await read(String(actor.id), 'text/html')).toMatchObject({ status: 302, location: '/users/ada' });

    const nodeInfo = await readJson('/ap/nodeinfo/2.1');
    expect(nodeInfo).toMatchObject({
      software: { name: 'vitrine' },
      protocols: ['activitypub'],
      usage: { users: { total: 1 } },
    });

    const hidden = await library.join('hidden');
    await hidden.ok('updateUser', { params: { ref: hidden.ref }, body: { hide_from_anonymous: true } });
    expect((await hidden.refused('updateFollowableAccount', { body: { followable: true } })).status).toBe(
      409,
    );
    const spaced = await library.join('two words');
    expect((await spaced.refused('updateFollowableAccount', { body: { followable: true } })).status).toBe(
      409,
    );
  });

  // AP-3, AP-6
  test('serves public posts as notes with described pictures, without mature and restricted files', async () => {
    const quay = await upload(ada, await jpeg(640, 480), {
      title: 'Quay',
      description: 'Boats at a quay in the fog',
      sensitivity: 'posts',
    });
    const mature = await upload(ada, await jpeg(641, 480), {
      title: 'Secret',
      sensitivity: 'posts',
      mature: 'true',
    });
    const restricted = await upload(ada, await jpeg(642, 480), {
      title: 'Hidden',
      sensitivity: 'restricted',
    });
    await library.runJobs();
    const post = await publish(ada, [quay, mature, restricted], {
      title: 'Morning <script>',
      description: 'Fog & light\n\nSecond',
      tags: ['black & white'],
      visibility: 'public',
    });
    await publish(ada, [quay], { title: 'Internal', visibility: 'org-only' });
    await publish(ada, [mature], { title: 'Only mature', visibility: 'public' });
    await publish(ada, [quay], { title: 'Draft', visibility: 'public', draft: true });
    const actor = await actorOf('ada');
    const outbox = await readJson(String(actor.outbox));
    expect(outbox).toMatchObject({ type: 'OrderedCollection', totalItems: 1 });
    const page = await readJson(String(outbox.first));
    const items = [page.orderedItems].flat() as Json[];
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ type: 'Create', actor: actor.id });
    const note = await readJson(`${String(actor.id)}/posts/${post.id}`);
    expect(note).toMatchObject({
      type: 'Note',
      attributedTo: actor.id,
      url: `${library.address}/posts/${post.id}`,
    });
    expect(note.content).toContain('Morning &lt;script&gt;');
    expect(note.content).toContain('<p>Fog &amp; light</p><p>Second</p>');
    const [picture, ...others] = [note.attachment].flat() as Json[];
    expect(others).toEqual([]);
    expect(picture).toMatchObject({
      type: 'Image',
      name: 'Boats at a quay in the fog',
      mediaType: 'image/webp',
    });
    const bytes = await fetch(String(picture?.url));
    expect(bytes.status).toBe(200);
    expect(note).not.toHaveProperty('sensitive');
    expect(note).not.toHaveProperty('summary');
    expect(await read(String(note.id), 'text/html')).toMatchObject({
      status: 302,
      location: `/posts/${post.id}`,
    });
    await ada.ok('updatePost', { params: { id: post.id }, body: { visibility: 'org-only' } });
    expect((await read(String(note.id))).status).toBe(404);
  });

  // AP-5
  test('returns 410 for an actor that was ended, and gives the account a new one', async () => {
    const before = await actorOf('ada');
    await ada.ok('updateFollowableAccount', { body: { followable: false } });
    expect((await read(String(before.id))).status).toBe(410);
    expect((await read(webFinger('ada'))).status).toBe(404);
    await ada.ok('updateFollowableAccount', { body: { followable: true } });
    expect((await actorOf('ada')).id).not.toBe(before.id);
    expect((await read(String(before.id))).status).toBe(410);
  });
});

// AP-1
test('the service starts without loading the protocol library', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        if (name.includes('fedify')) console.log(name);
        return next(name, context);
      },
    });
    await import('./server/src/service.ts');
    await import('./server/src/jobs.ts');
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--no-warnings', '-e', script],
    { cwd: join(import.meta.dirname, '../../..') },
  );
  expect(stdout).toBe('');
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { ShownAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { assignedJobs, jobHandlers } from '../../src/boot/jobs.ts';
import { lockFile } from '../../src/content/assets/insert.ts';
import { purge, releaseBytes } from '../../src/content/trash/jobs/purge.ts';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { runDueJobs } from '../../src/platform/jobs/worker.ts';
import { hashOfKey } from '../../src/platform/storage/object-key.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { jpeg, plainText } from '../support/pictures.ts';

type Kind = 'post' | 'asset';

let seed = 100;

const tables = { post: sql.table('posts'), asset: sql.table('assets') };
const DAY = 24 * 60;

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [mara, other] = await library.joinAll('mara', 'other');

beforeEach(async () => {
  await db.deleteFrom('settings').where('key', '=', 'trash_retention_days').execute();
});

/** Returns unique bytes of a text, for which nothing is rendered. */
function bytesOf(text = 'text'): Uint8Array<ArrayBuffer> {
  seed += 1;
  return plainText(`${text} ${seed}\n`);
}

async function picture(as: Account = mara): Promise<ShownAsset> {
  seed += 1;
  const asset = await upload(as, await jpeg(80, 60, { seed }));
  await library.runJobs();
  return asset;
}

function hashOf({ file_hash }: ShownAsset): string {
  if (file_hash === null) throw new Error('no hash');
  return file_hash;
}

/** Moves it to the trash as of this many minutes ago. */
async function bury(kind: Kind, id: string, minutes: number): Promise<void> {
  await mara.ok(kind === 'post' ? 'deletePost' : 'deleteAsset', { params: { id }, body: undefined });
  await sql`update ${tables[kind]} set deleted_at = now() - make_interval(mins => ${minutes})
    where id = ${id}`.execute(db);
}

async function isThere(kind: Kind, id: string): Promise<boolean> {
  const { rows } = await sql`select from ${tables[kind]} where id = ${id}`.execute(db);
  return rows.length === 1;
}

async function hasRow(hash: string): Promise<boolean> {
  const rows = await db.selectFrom('files').select('hash').where('hash', '=', hash).execute();
  return rows.length === 1;
}

/** Returns the keys of the original and renditions of these bytes. */
async function stored(hash: string): Promise<string[]> {
  const keys: string[] = [];
  for (const prefix of ['originals', 'renditions'])
    for await (const { key } of library.deps.storage.list(prefix))
      if (hashOfKey(key) === hash) keys.push(key);
  return keys;
}

/** Purges what is due, and runs the jobs that delete its bytes. */
async function purgeAll(): Promise<void> {
  await purge(db);
  await library.runJobs();
}

const file = async (id: string, as: Visitor = mara) => (await as.send(`/assets/${id}/file`)).text;
const keepFor = (retention_days: number | null) => root.ok('setTrashRetention', { body: { retention_days } });

const purgeEvents = () => auditEvents(library, { event: 'trash.purged' });

// TRASH-7
describe('the retention of deleted items', () => {
  // TRASH-7
  test('is 30 days by default and may be unlimited', async () => {
    expect(await root.ok('getTrashRetention')).toEqual({ retention_days: 30 });
    for (const days of [1, 36_500, null, 30]) {
      expect(await keepFor(days)).toEqual({ retention_days: days });
      expect(await root.ok('getTrashRetention')).toEqual({ retention_days: days });
    }
  });

  test('is recorded when it changes', async () => {
    await keepFor(3);
    await keepFor(null);
    const events = await auditEvents(library, { event: 'trash.retention.changed', actor_user_ref: root.ref });
    expect(events.slice(-2).map(({ metadata }) => metadata)).toEqual([
      { retention_days: 3 },
      { retention_days: null },
    ]);
  });

  // TRASH-7
  test.each([
    [undefined, 30],
    [400, 400],
  ])(
    'with a retention of %s, keeps what is a minute younger than %d days and purges what is a minute older',
    async (set, days) => {
      if (set !== undefined) await keepFor(set);
      const asset = await upload(mara, bytesOf());
      const young = { post: (await publish(mara, [asset])).id, asset: (await upload(mara, bytesOf())).id };
      const old = { post: (await publish(mara, [asset])).id, asset: (await upload(mara, bytesOf())).id };
      const live = { post: (await publish(mara, [asset])).id, asset: asset.id };
      for (const kind of ['post', 'asset'] as const) {
        await bury(kind, young[kind], days * DAY - 1);
        await bury(kind, old[kind], days * DAY + 1);
      }
      expect(await purge(db)).toEqual({ posts: 1, assets: 1, collections: 0 });
      for (const kind of ['post', 'asset'] as const) {
        for (const kept of [live, young]) expect(await isThere(kind, kept[kind])).toBe(true);
        expect(await isThere(kind, old[kind])).toBe(false);
      }
      await bury('asset', live.asset, 0);
      for (const kind of ['post', 'asset'] as const)
        await sql`delete from ${tables[kind]} where deleted_at is not null`.execute(db);
    },
  );

  test('purges nothing when unlimited', async () => {
    await keepFor(null);
    const asset = await upload(mara, bytesOf());
    await bury('asset', asset.id, 20_000 * DAY);
    expect(await purge(db)).toEqual({ posts: 0, assets: 0, collections: 0 });
    expect(await isThere('asset', asset.id)).toBe(true);
    await mara.ok('restoreAsset', { params: { id: asset.id } });
    expect(await file(asset.id)).toMatch(/^text/);
  });
});

describe('purging', () => {
  // TRASH-7
  test('deletes rows, bytes and renditions permanently', async () => {
    const asset = await picture();
    const hash = hashOf(asset);
    await mara.ok('updateAsset', { params: { id: asset.id }, body: { tags: ['sea'] } });
    const post = await publish(mara, [asset], { visibility: 'public' });
    expect((await stored(hash)).length).toBeGreaterThan(1);
    await bury('asset', asset.id, 31 * DAY);
    await purgeAll();
    expect(await isThere('asset', asset.id)).toBe(false);
    expect([await hasRow(hash), await stored(hash)]).toEqual([false, []]);
    const left = await sql`select asset_id from asset_tags where asset_id = ${asset.id}
      union all select asset_id from post_members where asset_id = ${asset.id}`.execute(db);
    expect(left.rows).toEqual([]);
    for (const visitor of [mara, root]) {
      const missing = await visitor.send(`/admin/assets/${crypto.randomUUID()}/restore`, { method: 'POST' });
      const gone = await visitor.send(`/admin/assets/${asset.id}/restore`, { method: 'POST' });
      expect([gone.status, gone.text]).toEqual([404, missing.text]);
      expect(await visitor.status('POST', `/account/trash/asset/${asset.id}/request-restore`)).toBe(404);
      expect(await visitor.status('GET', `/assets/${asset.id}/posts`)).toBe(404);
    }
    const trash = await mara.ok('listTrash', { query: { limit: 200 } });
    const assets = await root.ok('listAssets', { query: { include_deleted: true, limit: 200 } });
    for (const { items } of [trash, assets]) expect(items.map(({ id }) => id)).not.toContain(asset.id);
    // The post remains without the asset.
    expect(await other.ok('getPost', { params: { id: post.id } })).toMatchObject({ members: [] });
  });

  // POST-43
  test('deletes a post with its likes, comments, shares and whiteboards, not its assets', async () => {
    const asset = await upload(mara, bytesOf());
    const { id } = await publish(mara, [asset], { visibility: 'public' });
    await other.ok('likePost', { params: { id } });
    const thread = await other.ok('createComment', { params: { id }, body: { body: 'Fine' } });
    const body = { body: 'Thanks', parent_id: thread.id };
    const reply = await mara.ok('createComment', { params: { id }, body });
    await mara.ok('likeComment', { params: { id: reply.id } });
    await mara.ok('putShare', { params: { id, user_ref: other.ref } });
    await mara.ok('createWhiteboard', { params: { id }, body: { strokes: [{ points: [[0, 0]] }] } });
    await bury('post', id, 31 * DAY);
    expect(await purge(db)).toMatchObject({ posts: 1 });
    const { rows } = await sql`
      select post_id from post_likes where post_id = ${id} union all select post_id from comments where post_id = ${id}
      union all select comment_id from comment_likes where comment_id = ${reply.id}
      union all select post_id from post_shares where post_id = ${id}
      union all select post_id from whiteboards where post_id = ${id}
      union all select post_id from post_members where post_id = ${id}`.execute(db);
    expect(rows).toEqual([]);
    expect(await file(asset.id)).toMatch(/^text/);
    expect(await mara.ok('listPostsByAsset', { params: { id: asset.id } })).toEqual([]);
  });

  // POST-42
  test('a post whose assets were all purged stays readable, without cover, members or provenance', async () => {
    const [first, second] = [await upload(mara, bytesOf()), await upload(mara, bytesOf())];
    const thumbnail = await upload(mara, bytesOf());
    const covers = { cover_asset_id: second.id, cover_thumbnail_asset_id: thumbnail.id };
    const focal = { cover_focal_x: 0.5, cover_focal_y: 0.5 };
    const post = await publish(mara, [first, second], { visibility: 'public', ...covers, ...focal });
    for (const asset of [first, second, thumbnail]) await bury('asset', asset.id, 31 * DAY);
    await purge(db);
    for (const visitor of [mara, other, root])
      expect(await visitor.ok('getPost', { params: { id: post.id } })).toMatchObject({
        members: [],
        cover_asset_id: null,
        cover_thumbnail_asset_id: null,
        cover_focal_x: null,
        cover_focal_y: null,
        ai_provenance: null,
      });
    const edited = await mara.ok('updatePost', { params: { id: post.id }, body: { title: 'Empty' } });
    expect(edited).toMatchObject({ title: 'Empty', members: [] });
  });

  // TRASH-8
  test('records one event without an actor, and none if nothing was purged', async () => {
    const asset = await upload(mara, bytesOf());
    await bury('post', (await publish(mara, [asset])).id, 31 * DAY);
    await bury('asset', asset.id, 31 * DAY);
    const before = (await purgeEvents()).length;
    await purge(db);
    await purge(db);
    expect((await purgeEvents()).slice(before)).toMatchObject([
      { actor_user_ref: null, metadata: { posts: 1, assets: 1, collections: 0 } },
    ]);
  });

  test('works in batches, and deletes each item once under two concurrent purges', async () => {
    const asset = await upload(mara, bytesOf());
    await sql`insert into assets (owner_user_ref, asset_type, file_hash, file_name, processing_status, deleted_at)
      select ${mara.ref}, 7, ${hashOf(asset)}, 'a', 'ready', now() - interval '40 days'
      from generate_series(1, 450)`.execute(db);
    await sql`insert into posts (author_user_ref, state_id, deleted_at)
      select ${mara.ref}, '00000000-0000-4000-8000-000000000202', now() - interval '40 days'
      from generate_series(1, 401)`.execute(db);
    const counts = [...(await Promise.all([purge(db), purge(db)])), await purge(db)];
    const total = (kind: 'posts' | 'assets') => counts.reduce((sum, count) => sum + count[kind], 0);
    expect([total('posts'), total('assets')]).toEqual([401, 450]);
    await library.runJobs();
    expect(await file(asset.id)).toMatch(/^text/);
  });

  test.each(['post', 'asset'] as const)('skips a %s that is being restored', async (kind) => {
    const asset = await upload(mara, bytesOf());
    const id = kind === 'asset' ? asset.id : (await publish(mara, [asset])).id;
    await bury(kind, id, 31 * DAY);
    const held: { purged: Promise<unknown> } = { purged: Promise.resolve() };
    await db.transaction().execute(async (tx) => {
      await sql`update ${tables[kind]} set deleted_at = null, deleted_reason = null, deleted_by_user_ref = null
        where id = ${id}`.execute(tx);
      held.purged = purge(db);
      await Promise.race([held.purged, comeToWait(db, 1, 2_000)]);
    });
    await held.purged;
    expect(await isThere(kind, id)).toBe(true);
    await library.runJobs();
    expect((await mara.send(`/${kind}s/${id}`)).status).toBe(200);
    expect(await file(asset.id)).toMatch(/^text/);
  });

  test('runs each night', async () => {
    expect(assignedJobs(jobHandlers(library.deps), null).crontab).toMatch(/^\d+ \d+ \* \* \* purge$/m);
    const asset = await upload(mara, bytesOf());
    await bury('asset', asset.id, 31 * DAY);
    await sql`select graphile_worker.add_job('purge', payload => '{}'::json)`.execute(db);
    await library.runJobs();
    expect(await isThere('asset', asset.id)).toBe(false);
    expect([await hasRow(hashOf(asset)), await stored(hashOf(asset))]).toEqual([false, []]);
  });
});

describe('bytes', () => {
  // FILE-7
  test('are kept while another asset has them, even of another account or in the trash', async () => {
    const bytes = await jpeg(80, 60, { seed: ++seed });
    const first = await upload(mara, bytes);
    await library.runJobs();
    const [theirs, inTrash] = [await upload(other, bytes), await upload(mara, bytes)];
    await bury('asset', inTrash.id, 1);
    const before = await stored(hashOf(first));
    await bury('asset', first.id, 31 * DAY);
    await purgeAll();
    expect(await isThere('asset', first.id)).toBe(false);
    expect(await stored(hashOf(first))).toEqual(before);
    for (const path of ['file', 'variants/col', 'variants/hires'])
      expect(await other.status('GET', `/assets/${theirs.id}/${path}`)).toBe(200);
    await db.deleteFrom('assets').where('id', '=', theirs.id).execute();
    await mara.ok('restoreAsset', { params: { id: inTrash.id } });
    expect(await mara.status('GET', `/assets/${inTrash.id}/file`)).toBe(200);
    await bury('asset', inTrash.id, 31 * DAY);
    await purgeAll();
    expect([await hasRow(hashOf(first)), await stored(hashOf(first))]).toEqual([false, []]);
  });

  test('stay when uploaded again before their release, also between the deletion of row and bytes', async () => {
    for (const isRowDeleted of [false, true]) {
      const bytes = await jpeg(80, 60, { seed: ++seed });
      const first = await upload(mara, bytes);
      await library.runJobs();
      await bury('asset', first.id, 31 * DAY);
      await purge(db);
      // The state after a release that was killed midway; its job is still due.
      if (isRowDeleted) await db.deleteFrom('files').where('hash', '=', hashOf(first)).execute();
      const again = await upload(other, bytes);
      await library.runJobs();
      const state = await other.ok('getAsset', { params: { id: again.id } });
      expect(state).toMatchObject({ processing_status: 'ready', preview_available: true });
      for (const path of ['file', 'variants/col'])
        expect(await other.status('GET', `/assets/${again.id}/${path}`)).toBe(200);
    }
  });

  test('are stored and rendered again when uploaded after their release', async () => {
    const bytes = await jpeg(80, 60, { seed: ++seed });
    const first = await upload(mara, bytes);
    await library.runJobs();
    await bury('asset', first.id, 31 * DAY);
    await purgeAll();
    expect(await stored(hashOf(first))).toEqual([]);
    const again = await upload(other, bytes);
    expect(again).toMatchObject({ processing_status: 'pending', preview_available: false });
    await library.runJobs();
    for (const path of ['file', 'variants/col'])
      expect(await other.status('GET', `/assets/${again.id}/${path}`)).toBe(200);
  });

  // FILE-7
  test('stay when uploaded during their release', async () => {
    for (let round = 0; round < 6; round += 1) {
      const text = `round ${round} ${seed}\n`;
      const first = await upload(mara, plainText(text));
      await bury('asset', first.id, 31 * DAY);
      await purge(db);
      const [again] = await Promise.all([
        upload(mara, plainText(text)),
        sleep(round % 6).then(() => releaseBytes(library.deps, hashOf(first))),
      ]);
      await library.runJobs();
      expect([round, await file(again.id), await hasRow(hashOf(first))]).toEqual([round, text, true]);
    }
  });

  test('stay or are 404 when referenced by hash during their release', async () => {
    const asset = await upload(mara, bytesOf());
    const held: { made: ReturnType<Visitor['send']> | null } = { made: null };
    await db.transaction().execute(async (tx) => {
      await lockFile(tx, hashOf(asset));
      await tx.deleteFrom('assets').where('id', '=', asset.id).execute();
      await tx.deleteFrom('files').where('hash', '=', hashOf(asset)).execute();
      held.made = mara.send('/assets', { method: 'POST', body: { file_hash: hashOf(asset) } });
      expect(await comeToWait(db)).toBe(true);
    });
    const made = await held.made;
    expect([made?.status, made?.text]).toEqual([404, '{"error":"you have not uploaded that file"}']);
  });

  // TRASH-8
  describe('whose release was killed between row and bytes', () => {
    const cut = new Error('the power went');
    let hash: string;

    /** The library's storage, which fails after this many deletions. */
    function failing(after: number): Storage {
      let left = after;
      return {
        ...library.deps.storage,
        delete: async (key) => {
          if (left === 0) throw cut;
          left -= 1;
          await library.deps.storage.delete(key);
        },
      };
    }

    beforeEach(async () => {
      const asset = await picture();
      hash = hashOf(asset);
      await bury('asset', asset.id, 31 * DAY);
      await purge(db);
    });

    test.each([0, 1])('are taken by the next try of the job, cut off after %d deletions', async (after) => {
      await runDueJobs({
        pool: library.database.pool,
        handlers: jobHandlers({ ...library.deps, storage: failing(after) }),
        concurrency: 1,
        log: library.deps.log,
      });
      expect(await hasRow(hash)).toBe(false);
      expect((await stored(hash)).length).toBeGreaterThan(0);
      // The failure may be recorded a moment later, with the time of the next attempt.
      for (let tries = 0; tries < 20 && (await stored(hash)).length > 0; tries += 1) {
        await library.database.pool.query('update graphile_worker._private_jobs set run_at = now()');
        await library.runJobs();
      }
      expect(await stored(hash)).toEqual([]);
    });

    // FILE-8
    test('are deleted by the sweep without a job', async () => {
      await expect(releaseBytes({ db: db, storage: failing(1) }, hash)).rejects.toBe(cut);
      await library.database.pool.query('delete from graphile_worker._private_jobs');
      expect((await stored(hash)).length).toBeGreaterThan(0);
      await sweep(library.deps, Date.now() + 60_000, 0);
      expect(await stored(hash)).toEqual([]);
    });

    test('can be released twice', async () => {
      await Promise.all([releaseBytes(library.deps, hash), releaseBytes(library.deps, hash)]);
      await releaseBytes(library.deps, hash);
      expect([await hasRow(hash), await stored(hash)]).toEqual([false, []]);
    });
  });
});

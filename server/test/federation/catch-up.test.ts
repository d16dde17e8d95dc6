import { sql } from 'kysely';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { writeSetting } from '../../src/settings.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';
import { openRelay } from './processes.ts';

async function administer(statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ ...JSON.parse(inject('server')), database: 'postgres' });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const databaseOf = ({ databaseUrl }: Install) => new URL(databaseUrl).pathname.slice(1);

/** Keeps a backup of the database; returns what restores it under the running service. */
async function backUp(install: Install): Promise<() => Promise<void>> {
  const name = databaseOf(install);
  const backup = `${name}_backup`;
  const disconnect = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
  await administer([
    `alter database ${name} allow_connections false`,
    disconnect,
    `create database ${backup} template ${name} strategy file_copy`,
    `alter database ${name} allow_connections true`,
  ]);
  await untilBack(install);
  return async () => {
    await administer([
      `drop database ${name} with (force)`,
      `alter database ${backup} rename to ${name}`,
      `alter database ${name} allow_connections true`,
    ]);
    await untilBack(install);
  };
}

/** How long reconnecting may take. */
async function untilBack(install: Install): Promise<void> {
  await expect
    .poll(
      () =>
        sql`select 1`.execute(install.database.db).then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
}

/** Runs the five-minute jobs of both sides, and the jobs that they enqueue. */
async function passMinutes(...installs: readonly Install[]): Promise<void> {
  for (const { database } of installs) {
    await sql`update graphile_worker._private_jobs set run_at = now() where locked_at is null`.execute(
      database.db,
    );
    await sql`select graphile_worker.add_job('keep-federation', '{}')`.execute(database.db);
  }
  await settle(...installs);
  await settle(...installs);
}

async function share(install: Install, peer: string, title: string, body: { team?: string } = {}) {
  const asset = await upload(install.root, await jpeg(64, 48, { seed: title.length }), {
    sensitivity: 'posts',
  });
  await install.runJobs();
  const post = await publish(install.root, [asset], { title });
  const params = { id: post.id, peer_id: peer };
  await install.root.ok('putPostPeer', { params, body: { scope: 'comment', ...body } });
  return params;
}

const titlesAt = async ({ root }: Pick<Install, 'root'>) =>
  (await root.ok('listPosts')).items.map(({ title }) => title).toSorted();

async function mirrorOf(install: Install, title: string): Promise<string> {
  const found = (await install.root.ok('listPosts')).items.find((post) => post.title === title);
  if (found === undefined) throw new Error(`${title} is not here`);
  return found.id;
}

async function commentsOn(install: Install, post: string): Promise<string[]> {
  const { items } = await install.root.ok('listComments', { params: { id: post } });
  return items
    .flatMap((item) => [item, ...item.replies])
    .map(({ body }) => body)
    .toSorted();
}

const say = (install: Install, post: string, body: string) =>
  install.root.ok('createComment', { params: { id: post }, body: { body } });

// FED-78
test('a peer that was unreachable for a week catches up automatically', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  let away = false;
  const relay = await openRelay(
    () => (away ? null : studio.address),
    async () => {},
  );
  try {
    await writeSetting(studio.database.db, 'base_url', relay.address);
    const { peerOfOne } = await pair(harbour, { ...studio, address: relay.address });
    const kept = await share(harbour, peerOfOne, 'Kept');
    const withdrawn = await share(harbour, peerOfOne, 'Withdrawn');
    await passMinutes(harbour, studio);
    expect(await titlesAt(studio)).toEqual(['Kept', 'Withdrawn']);

    away = true;
    await harbour.root.ok('updatePost', { params: { id: kept.id }, body: { title: 'Kept, changed' } });
    await say(harbour, kept.id, 'While you were away');
    await harbour.root.ok('deletePostPeer', { params: withdrawn });
    const brief = await share(harbour, peerOfOne, 'Shared for a day');
    await harbour.root.ok('deletePostPeer', { params: brief });
    await share(harbour, peerOfOne, 'New');
    await sql`update federation_outbox set created_at = created_at - interval '7 days'`.execute(
      harbour.database.db,
    );
    await sql`update federation_outbox set next_attempt_at = now()`.execute(harbour.database.db);
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(harbour.database.db);
    await harbour.runJobs();
    const { failed_count } = await harbour.root.ok('getPeer', { params: { id: peerOfOne } });
    expect(failed_count).toBeGreaterThan(5);

    away = false;
    await passMinutes(studio, harbour);
    expect(await titlesAt(studio)).toEqual(['Kept, changed', 'New']);
    expect(await commentsOn(studio, await mirrorOf(studio, 'Kept, changed'))).toEqual([
      'While you were away',
    ]);
    const { rows } = await sql`select from federation_outbox where status in ('queued', 'failed')`.execute(
      harbour.database.db,
    );
    expect(rows).toEqual([]);
    expect((await studio.root.ok('listFederationRejections')).items).toEqual([]);
  } finally {
    await relay.close();
  }
}, 120_000);

// FED-78
test('both sides converge after one of them is restored from a backup', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  const { peerOfOne } = await pair(harbour, studio);
  const first = await share(harbour, peerOfOne, 'First');
  const withdrawn = await share(harbour, peerOfOne, 'Withdrawn');
  await passMinutes(harbour, studio);
  const [ann, dan] = [await studio.join('ann'), await studio.join('dan')];
  const editors = await studio.root.ok('createTeam', { body: { name: 'Editors', slug: 'editors' } });
  await studio.root.ok('addTeamMember', { params: { id: editors.id, user_ref: ann.ref } });
  const restoreStudio = await backUp(studio);
  await harbour.root.ok('updatePost', { params: { id: first.id }, body: { title: 'First, changed' } });
  await say(harbour, first.id, 'Hello');
  await harbour.root.ok('deletePostPeer', { params: withdrawn });
  await share(harbour, peerOfOne, 'Second');
  await share(harbour, peerOfOne, 'For editors', { team: 'editors' });
  await passMinutes(harbour, studio);
  const after = ['First, changed', 'For editors', 'Second'];
  const ofOthers = ['First, changed', 'Second'];
  expect(await titlesAt(studio)).toEqual(after);
  expect(await titlesAt({ root: ann })).toEqual(after);
  expect(await titlesAt({ root: dan })).toEqual(ofOthers);

  await restoreStudio();
  expect(await titlesAt(studio)).toEqual(['First', 'Withdrawn']);
  await passMinutes(studio, harbour);
  expect(await titlesAt(studio)).toEqual(after);
  expect(await titlesAt({ root: ann })).toEqual(after);
  expect(await titlesAt({ root: dan })).toEqual(ofOthers);
  const mirror = await mirrorOf(studio, 'First, changed');
  expect(await commentsOn(studio, mirror)).toEqual(['Hello']);

  const restoreHarbour = await backUp(harbour);
  await say(studio, mirror, 'From the studio');
  await share(harbour, peerOfOne, 'Forgotten');
  await passMinutes(studio, harbour);
  expect(await commentsOn(harbour, first.id)).toEqual(['From the studio', 'Hello']);
  expect(await titlesAt(studio)).toEqual(['First, changed', 'For editors', 'Forgotten', 'Second']);

  await restoreHarbour();
  expect(await commentsOn(harbour, first.id)).toEqual(['Hello']);
  // Other changes get the numbers of the forgotten ones.
  await say(harbour, first.id, 'After the restore');
  await passMinutes(harbour, studio);
  expect(await titlesAt(studio)).toEqual(after);
  const all = ['After the restore', 'From the studio', 'Hello'];
  expect(await commentsOn(harbour, first.id)).toEqual(all);
  expect(await commentsOn(studio, mirror)).toEqual(all);

  // An install that has lost everything receives all of it again.
  await sql`update federation_grants set expires_at = now()`.execute(studio.database.db);
  await sql`update federation_peers set cursor_id = 'forgotten', capabilities = '{}'`.execute(
    studio.database.db,
  );
  await passMinutes(studio);
  expect(await titlesAt(studio)).toEqual([]);
  await sql`update federation_peers set capabilities = '{changes-v1}'`.execute(studio.database.db);
  await passMinutes(studio, harbour);
  expect(await titlesAt(studio)).toEqual(after);
}, 120_000);

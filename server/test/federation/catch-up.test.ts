// @module-tag one-process
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { addTeam } from '../support/teams.ts';
import {
  type Install,
  openInstall,
  pair,
  postOf,
  rejectionsAt,
  settle,
  sharePost,
  skipPauses,
  titlesOf,
} from './installs.ts';
import { openGate } from './processes.ts';

const harbour = await openInstall('Harbour');
const studio = await openInstall('Studio');
const gate = await openGate(studio);
const { peerOfOne: peer_id } = await pair(harbour, { ...studio, address: gate.address });
afterAll(() => gate?.close());

async function administer(statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ ...JSON.parse(inject('server')), database: 'postgres' });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Keeps a backup of the database; returns what restores it under the running service. */
async function backUp(install: Install): Promise<() => Promise<void>> {
  const name = new URL(install.databaseUrl).pathname.slice(1);
  const backup = `${name}_backup`;
  /** Runs statements that disconnect the service, and waits until it is connected again. */
  const interrupt = async (...statements: string[]) => {
    await administer(statements);
    const isBack = () =>
      sql`select 1`.execute(install.database.db).then(
        () => true,
        () => false,
      );
    await expect.poll(isBack).toBe(true);
  };
  await interrupt(
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    `create database ${backup} template ${name} strategy file_copy`,
    `alter database ${name} allow_connections true`,
  );
  return () =>
    interrupt(
      `drop database ${name} with (force)`,
      `alter database ${backup} rename to ${name}`,
      `alter database ${name} allow_connections true`,
    );
}

/** Runs the five-minute jobs of both sides, and the jobs that they enqueue. */
async function passMinutes(...installs: readonly Install[]): Promise<void> {
  for (const { database } of installs) {
    const { db } = database;
    await sql`update graphile_worker._private_jobs set run_at = now() where locked_at is null`.execute(db);
    await sql`select graphile_worker.add_job('keep-federation', '{}')`.execute(db);
  }
  await settle(...installs, ...installs);
}

async function share(title: string, body: { team?: string } = {}) {
  const { id } = await sharePost(harbour.root, peer_id, title, { scope: 'comment', ...body });
  return { id, peer_id };
}

async function commentsOn(account: Visitor, id: string): Promise<string[]> {
  const { items } = await account.ok('listComments', { params: { id } });
  const all = items.flatMap((item) => [item, ...item.replies]);
  return all.map(({ body }) => body).toSorted();
}

const say = (install: Install, id: string, body: string) =>
  install.root.ok('createComment', { params: { id }, body: { body } });
const rename = (id: string, title: string) =>
  harbour.root.ok('updatePost', { params: { id }, body: { title } });

// FED-78
test('a peer that was unreachable for a week catches up automatically', async () => {
  const kept = await share('Kept');
  const withdrawn = await share('Withdrawn');
  await passMinutes(harbour, studio);
  expect(await titlesOf(studio.root)).toEqual(['Kept', 'Withdrawn']);

  gate.cut();
  await rename(kept.id, 'Kept, changed');
  await say(harbour, kept.id, 'While you were away');
  await harbour.root.ok('deletePostPeer', { params: withdrawn });
  await harbour.root.ok('deletePostPeer', { params: await share('Shared for a day') });
  const fresh = await share('New');
  const { db } = harbour.database;
  await sql`update federation_outbox set created_at = created_at - interval '7 days'`.execute(db);
  await skipPauses(harbour);
  await harbour.runJobs();
  const { failed_count } = await harbour.root.ok('getPeer', { params: { id: peer_id } });
  expect(failed_count).toBeGreaterThan(4);

  gate.mend();
  await passMinutes(studio, harbour);
  expect(await titlesOf(studio.root)).toEqual(['Kept, changed', 'New']);
  const { id } = await postOf(studio.root, 'Kept, changed');
  expect(await commentsOn(studio.root, id)).toEqual(['While you were away']);
  const { rows } = await sql`select from federation_outbox where status in ('queued', 'failed')`.execute(db);
  expect([rows, await rejectionsAt(studio)]).toEqual([[], []]);
  for (const params of [kept, fresh]) await harbour.root.ok('deletePostPeer', { params });
});

// FED-78
test('both sides converge after one of them is restored from a backup', async () => {
  const first = await share('First');
  const withdrawn = await share('Withdrawn');
  await passMinutes(harbour, studio);
  const [ann, dan] = [await studio.join('ann'), await studio.join('dan')];
  await addTeam(studio, 'editors', [ann]);
  const restoreStudio = await backUp(studio);
  await rename(first.id, 'First, changed');
  await say(harbour, first.id, 'Hello');
  await harbour.root.ok('deletePostPeer', { params: withdrawn });
  await share('Second');
  await share('For editors', { team: 'editors' });
  await passMinutes(harbour, studio);
  const all = ['First, changed', 'For editors', 'Second'];
  const ofOthers = ['First, changed', 'Second'];
  const shown = () => Promise.all([studio.root, ann, dan].map(titlesOf));
  expect(await shown()).toEqual([all, all, ofOthers]);

  await restoreStudio();
  expect(await titlesOf(studio.root)).toEqual(['First', 'Withdrawn']);
  await passMinutes(studio, harbour);
  expect(await shown()).toEqual([all, all, ofOthers]);
  const { id: mirror } = await postOf(studio.root, 'First, changed');
  expect(await commentsOn(studio.root, mirror)).toEqual(['Hello']);

  const restoreHarbour = await backUp(harbour);
  await say(studio, mirror, 'From the studio');
  await share('Forgotten');
  await passMinutes(studio, harbour);
  expect(await commentsOn(harbour.root, first.id)).toEqual(['From the studio', 'Hello']);
  expect(await titlesOf(studio.root)).toEqual([...all.slice(0, 2), 'Forgotten', 'Second']);

  await restoreHarbour();
  expect(await commentsOn(harbour.root, first.id)).toEqual(['Hello']);
  // Other changes get the numbers of the forgotten ones.
  await say(harbour, first.id, 'After the restore');
  await passMinutes(harbour, studio);
  expect(await titlesOf(studio.root)).toEqual(all);
  const comments = ['After the restore', 'From the studio', 'Hello'];
  expect(await commentsOn(harbour.root, first.id)).toEqual(comments);
  expect(await commentsOn(studio.root, mirror)).toEqual(comments);

  // An install that has lost everything receives all of it again.
  const { db } = studio.database;
  await sql`update federation_grants set expires_at = now()`.execute(db);
  await sql`update federation_peers set cursor_id = 'forgotten', capabilities = '{}'`.execute(db);
  await passMinutes(studio);
  expect(await titlesOf(studio.root)).toEqual([]);
  await sql`update federation_peers set capabilities = '{changes-v1}'`.execute(db);
  await passMinutes(studio, harbour);
  expect(await titlesOf(studio.root)).toEqual(all);
});

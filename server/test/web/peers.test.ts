import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { writeSetting } from '../../src/core/settings.ts';
import { clip } from '../media/clips.ts';
import { jpeg } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { naturalWidth, overhang, showMore, visit } from './hands.ts';
import { type OpenStudio, openStudio } from './studio.ts';

async function openHome(name: string): Promise<OpenStudio> {
  const home = await openStudio({ VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on' });
  await writeSetting(home.library.database.db, 'base_url', home.address);
  await writeSetting(home.library.database.db, 'site_name', name);
  return home;
}

const [harbour, north] = await Promise.all([openHome('Harbour'), openHome('North')]);
const [ann, ben] = await Promise.all([harbour.enter('mara'), north.enter('mara')]);
const mpeg2 = await clip({ format: 'mpeg', video: { encoder: 'mpeg2video' }, seconds: 2 });
const posts = { sensitivity: 'posts' };
const ferry = await uploadReady(ann, mpeg2, { title: 'Ferry', ...posts }, 'ferry.mpg');
const picture = await uploadReady(ann, await jpeg(600, 400), { title: 'Quay', ...posts });
const post = await publish(ann, 'Morning at the quay', [ferry, picture]);

const peerOf = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Peers' }).getByRole('listitem').filter({ hasText: name });

async function accept(page: Page, name: string): Promise<void> {
  await peerOf(page, name).getByRole('button', { name: 'Accept…' }).click();
  await page.getByRole('button', { name: 'They are the same' }).click();
}

// FED-10, FED-11
test('administrators of two libraries compare fingerprints and pair them', async () => {
  await ann.goto('/admin/peers');
  await ann.getByLabel('Address of the other library').fill(north.address);
  await ann.getByRole('button', { name: 'Add', exact: true }).click();
  await accept(ann, 'North');
  await peerOf(ann, 'North').getByText('Waiting', { exact: true }).waitFor();
  await north.library.runJobs();
  await ben.goto('/admin/peers');
  await peerOf(ben, 'Harbour').getByText('Asks to be paired').waitFor();
  await accept(ben, 'Harbour');
  await peerOf(ben, 'Harbour').getByText('Connected', { exact: true }).waitFor();
  await peerOf(ann, 'North').getByText('Connected', { exact: true }).waitFor();
  expect(await overhang(ann)).toBe(0);
});

/** Returns the tables with any of these words, except the audit log, which records what was shared. */
async function tablesWith({ library }: OpenStudio, words: readonly string[]): Promise<string[]> {
  const { db } = library.database;
  type Table = { name: string };
  const { rows: tables } = await sql<Table>`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'audit_events'`.execute(db);
  const patterns = words.map((word) => `%${word}%`);
  const each = tables.map(
    ({ name }) => sql`select ${name}::text as name
      where exists (select from ${sql.table(name)} t where t::text ilike any(${patterns}))`,
  );
  const { rows } = await sql<Table>`${sql.join(each, sql` union all `)}`.execute(db);
  return rows.map(({ name }) => name);
}

const film = (page: Page) => page.getByRole('group', { name: 'Player of Ferry' });
const videoOf = (page: Page) =>
  film(page)
    .locator('video')
    .evaluate((one) => {
      if (!(one instanceof HTMLVideoElement)) throw new Error('it is no video');
      return { width: one.videoWidth, time: one.currentTime };
    });

async function openShares(page: Page): Promise<void> {
  await showMore(page);
  await page.getByRole('button', { name: 'Share with a library' }).click();
}

async function writeComment(page: Page, text: string): Promise<void> {
  await page.getByLabel('Write a comment').fill(text);
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await page.getByText(text).waitFor();
}

// FED-30, FED-32, FED-33, FED-34, FED-41, FED-72
test('a post with a video is shared with a library, played and commented on there, and removed completely when the share ends', async () => {
  const transcoding = async () => (await call(ann, 'GET', `/assets/${ferry}/media`)).transcoding?.state;
  await expect.poll(transcoding).toBe('done');
  await visit(ann, `/posts/${post}`);
  await openShares(ann);
  await ann.getByRole('dialog').getByLabel('They can').selectOption('comment');
  await ann.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click();
  await ann.getByRole('region', { name: 'Shared with' }).getByText('Everyone there can comment').waitFor();

  const seen = async () => (await call(ben, 'GET', '/posts')).items;
  await expect.poll(async () => (await seen()).length).toBe(1);
  const [mirrored] = await seen();
  const [video, quay] = mirrored.members.map(({ asset_id }: { asset_id: string }) => asset_id);
  const status = async () => (await call(ben, 'GET', `/assets/${video}`)).processing_status;
  await expect.poll(status).toBe('ready');
  await visit(ben, '/');
  await ben.getByText('mara, Harbour').waitFor({ state: 'attached' });
  const card = ben.getByRole('link', { name: /Morning at the quay/ }).first();
  await card.click();
  await ben.getByText('shared from').waitFor();
  const shown = ben.getByRole('img', { name: /quay/i }).first();
  await expect.poll(() => naturalWidth(shown)).toBeGreaterThan(300);

  // No browser plays MPEG-2, so the renditions of the harbour play.
  await visit(ben, `/assets/${video}`);
  await expect.poll(async () => (await videoOf(ben)).width).toBe(320);
  await film(ben).getByRole('button', { name: 'Play' }).click();
  await expect.poll(async () => (await videoOf(ben)).time).toBeGreaterThan(0.3);
  expect((await ben.request.get(`/api/v1/assets/${quay}/file`)).status()).toBe(200);

  await visit(ben, `/posts/${mirrored.id}`);
  await writeComment(ben, 'Lovely light');
  const comments = async (page: Page, id: string) =>
    (await call(page, 'GET', `/posts/${id}/comments`)).items.length;
  await expect.poll(() => comments(ann, post)).toBe(1);
  await ann.reload();
  await ann.getByText('Lovely light').waitFor();
  await writeComment(ann, 'It was the fog');
  await expect.poll(() => comments(ben, mirrored.id)).toBe(2);
  const words = ['Morning at the quay', 'Ferry', 'Lovely light', 'It was the fog', post];
  expect(await tablesWith(north, words)).toContain('posts');

  await openShares(ann);
  await ann.getByRole('button', { name: /^Stop sharing/ }).click();
  await expect.poll(async () => (await seen()).length).toBe(0);
  await expect.poll(() => tablesWith(north, words)).toEqual([]);
  expect(await comments(ann, post)).toBe(2);
});

// FED-61, FED-63
test('an administrator sees how the fields of a library differ, and decides', async () => {
  const take = { code: 'take', label: 'Take', type: 'text' };
  const field = await call(ann, 'POST', '/fields', take);
  await call(ben, 'POST', '/fields', { ...take, type: 'number' });
  const shared = await call(ann, 'GET', `/posts/${post}`);
  await call(ann, 'PUT', `/assets/${shared.members[0].asset_id}/fields/${field.id}`, { value_text: 'T3' });
  const [peer] = (await call(ann, 'GET', '/admin/peers')).items;
  await call(ann, 'PUT', `/posts/${post}/peers/${peer.id}`, {});

  await visit(ben, '/admin/peers');
  await peerOf(ben, 'Harbour').getByText('1 to decide').click();
  const card = ben.getByRole('list', { name: 'Fields' }).getByRole('listitem', { name: 'Take' });
  await card.getByRole('row', { name: /Type, another meaning Number Text/ }).waitFor();
  expect(await overhang(ben)).toBe(0);
  await card.getByRole('button', { name: 'Take over theirs' }).click();
  await card.getByText('Take is of another type here; adopt it with another code').waitFor();
  await card.getByRole('button', { name: 'Keep separate…' }).click();
  await ben.getByLabel('Code of the new field').fill('harbour_take');
  await ben.getByRole('button', { name: 'Create', exact: true }).click();
  await card.getByText('Taken over', { exact: true }).waitFor();
  const [mirrored] = (await call(ben, 'GET', '/posts')).items;
  const values = () => call(ben, 'GET', `/assets/${mirrored.members[0].asset_id}/fields`);
  const taken = { items: expect.arrayContaining([expect.objectContaining({ value_text: 'T3' })]) };
  await expect.poll(values).toMatchObject(taken);
});

// FED-50
test('restricted content is shared with a person after a second confirmation', async () => {
  const plan = { title: 'Plan of the dock', sensitivity: 'restricted' };
  const id = await publish(ann, 'A new dock', [await uploadReady(ann, await jpeg(40, 30), plan)]);
  await visit(ann, '/admin/peers');
  await ann.getByRole('switch', { name: 'Allow sharing restricted and mature content' }).click();
  const allowed = async () => (await call(ann, 'GET', '/admin/federation')).sensitive_content;
  await expect.poll(allowed).toBe('encrypted');

  await visit(ann, `/posts/${id}`);
  await openShares(ann);
  await ann.getByRole('dialog').getByLabel('With', { exact: true }).selectOption('person');
  await ann.getByRole('dialog').getByLabel('Person').fill('mara');
  await ann.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click();
  const question = ann.getByRole('alertdialog');
  await question.getByText('Share restricted or mature content with mara?').waitFor();
  await question.getByRole('list', { name: 'Restricted or mature' }).getByText('Plan of the dock').waitFor();
  expect((await call(ann, 'GET', `/posts/${id}/peers`)).items).toEqual([]);
  await question.getByRole('button', { name: 'Share encrypted' }).click();
  const shared = ann.getByRole('region', { name: 'Shared with' });
  await shared.getByText('with restricted or mature content').waitFor();
});

// FED-34, FED-64
test('a collection, a team and a file of another library name it and offer no changes, not even to administrators', async () => {
  const team = await call(ann, 'POST', '/teams', { name: 'Lighting', slug: 'lighting' });
  const lamp = await uploadReady(ann, await jpeg(20, 15), { title: 'Lamp', sensitivity: 'posts' });
  const lit = await publish(ann, 'Lamps', [lamp], { team_id: team.id });
  const collection = await call(ann, 'POST', '/collections', { name: 'Harbour lights' });
  await call(ann, 'PUT', `/collections/${collection.id}/posts/${lit}`);
  const [peer] = (await call(ann, 'GET', '/admin/peers')).items;
  await call(ann, 'PUT', `/collections/${collection.id}/peers/${peer.id}`, { scope: 'view' });
  const arrived = async () =>
    (await call(ben, 'GET', '/posts')).items.find(({ title }: { title: string }) => title === 'Lamps');
  await expect.poll(arrived).toBeDefined();
  const mirrored = await arrived();
  const [shelf] = (await call(ben, 'GET', '/collections')).items;
  const pages = {
    [`/collections/${shelf.id}`]: 'Harbour lights',
    [`/teams/${mirrored.team_id}`]: 'Lighting',
    [`/assets/${mirrored.members[0].asset_id}`]: 'Lamp',
  };
  for (const [address, name] of Object.entries(pages)) {
    await visit(ben, address);
    await ben.getByRole('heading', { level: 1, name }).waitFor();
    await ben.getByText('shared from Harbour', { exact: false }).waitFor();
    const changes = /^(Edit|Arrange|Share|Cover|Delete|Picture|Place|Close|Move)/;
    const offered = ben.getByRole('main').getByRole('button', { name: changes });
    expect(await offered.allTextContents()).toEqual([]);
  }
});

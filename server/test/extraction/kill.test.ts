import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownAsset } from '@vitrine/contract/assets';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { stopTagging } from '../media/tagged-files.ts';
import { visit } from '../support/client.ts';
import { cloneTemplate } from '../support/clone.ts';
import { password, upload } from '../support/library.ts';
import { startProcess } from '../support/process.ts';
import { shownValue, tagged } from './files.ts';

afterAll(stopTagging);

/** More than one step of a pass and less than two. */
const FILES = 70;

// EXTRACT-9
test('a pass resumes after its service was killed, and fills every file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-extraction-'));
  await chmod(directory, 0o755);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const clone = await cloneTemplate();
  onTestFinished(clone.drop);
  const admin = { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: password };
  const start = async () => {
    const { child, exited, address } = await startProcess(directory, { DATABASE_URL: clone.url, ...admin });
    const kill = async () => {
      child.kill('SIGKILL');
      await exited;
    };
    onTestFinished(kill);
    const root = visit(address);
    await root.ok('login', { body: { username: 'root', password } });
    return { root, kill };
  };
  const first = await start();
  const assets: ShownAsset[] = [];
  const addOne = async () =>
    assets.push(await upload(first.root, await tagged({ 'XMP-dc:Title': 'Ridge' }), { title: 'mine' }));
  while (assets.length < FILES) await Promise.all([1, 2, 3, 4, 5].map(addOne));
  const { id } = await first.root.ok('createField', {
    body: { code: 'headline', label: 'Headline', type: 'text' },
  });
  await first.root.ok('setFieldExtraction', { params: { id }, body: { source: 'title' } });
  await first.root.ok('startBackfill', { body: undefined });
  const done = async () => (await first.root.ok('getExtraction', {})).done;
  await expect.poll(done, { timeout: 60_000 }).toBeGreaterThan(0);
  const seen = await first.root.ok('getExtraction', {});
  await first.kill();
  expect(seen).toMatchObject({ running: true, total: FILES });

  const { root } = await start();
  const progress = () => root.ok('getExtraction', {});
  expect((await progress()).done).toBeGreaterThanOrEqual(seen.done);
  await expect.poll(async () => (await progress()).running, { timeout: 60_000 }).toBe(false);
  expect(await progress()).toMatchObject({ state: 'finished', done: FILES, total: FILES, failed: 0 });
  const values = await Promise.all(assets.map((asset) => shownValue(root, asset, id)));
  expect(values.filter((value) => value?.value_text !== 'Ridge')).toEqual([]);
}, 180_000);

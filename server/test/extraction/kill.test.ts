import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { stopTagging } from '../media/tagged-files.ts';
import { type Visitor, visit } from '../support/client.ts';
import { upload } from '../support/library.ts';
import { postmasterOf, type ServiceProcess, startProcess } from '../support/process.ts';
import { shownValue, tagged } from './files.ts';

const admin = { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: 'a long password' };
const processes: ServiceProcess[] = [];
let directory: string | undefined;

afterAll(async () => {
  for (const { child, exited } of processes) {
    child.kill('SIGTERM');
    await exited;
  }
  await stopTagging();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
});

async function start(dataDir: string): Promise<{ service: ServiceProcess; root: Visitor }> {
  const service = await startProcess(dataDir, admin);
  processes.push(service);
  const root = visit(service.address);
  await root.ok('login', { body: { username: 'root', password: admin.VITRINE_ADMIN_PASSWORD } });
  return { service, root };
}

/** More than one step of a pass and less than two. */
const FILES = 70;

// EXTRACT-9
test('a pass resumes after every process was killed, and fills every file', async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-extraction-'));
  await chmod(directory, 0o755);
  const first = await start(directory);
  const bytes = await tagged({ 'XMP-dc:Title': 'Ridge' });
  // A trailer changes the hash of the file, not its metadata.
  const uploadAnother = async (n: number) =>
    (await upload(first.root, Uint8Array.from([...bytes, n]), { title: 'mine' })).id;
  const lanes = Array.from({ length: 5 }, async (_, lane) => {
    const ids: string[] = [];
    for (let n = 0; n < FILES / 5; n += 1) ids.push(await uploadAnother(lane * 50 + n));
    return ids;
  });
  const assets = (await Promise.all(lanes)).flat();
  const field = await first.root.ok('createField', {
    body: { code: 'headline', label: 'Headline', type: 'text' },
  });
  await first.root.ok('setFieldExtraction', { params: { id: field.id }, body: { source: 'title' } });
  await first.root.ok('startBackfill', { body: undefined });
  let seen = await first.root.ok('getExtraction', {});
  for (let tries = 0; tries < 600 && seen.done === 0; tries += 1) {
    await sleep(50);
    seen = await first.root.ok('getExtraction', {});
  }
  const postmaster = await postmasterOf(directory);
  first.service.child.kill('SIGKILL');
  process.kill(postmaster, 'SIGKILL');
  await first.service.exited;
  expect(seen).toMatchObject({ running: true, total: FILES });
  expect(seen.done).toBeGreaterThan(0);

  const { root } = await start(directory);
  let after = await root.ok('getExtraction', {});
  expect(after.done).toBeGreaterThanOrEqual(seen.done);
  for (let tries = 0; tries < 600 && after.running; tries += 1) {
    await sleep(100);
    after = await root.ok('getExtraction', {});
  }
  expect(after).toMatchObject({ state: 'finished', done: FILES, total: FILES, failed: 0 });
  const values = await Promise.all(assets.map((id) => shownValue(root, { id }, field.id)));
  expect(values.filter((value) => value?.value_text !== 'Ridge')).toEqual([]);
}, 120_000);

import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { fillVectorsJob } from '../../src/visual/jobs/encode.ts';
import { arrive } from '../posts/people.ts';
import { startEncoder, startUnruly } from '../support/encoder.ts';
import { type Library, openLibrary, upload } from '../support/library.ts';
import { scene } from './scenes.ts';

const enabled = async (library: Library) =>
  (await library.anonymous().ok('getAppearance')).visual_search_enabled;

async function vectors({ deps: { db } }: Library) {
  const { rows } = await sql<{ model: string; readable: boolean }>`
    select model, vector is not null as readable from picture_vectors order by model, file_hash`.execute(db);
  return rows;
}

async function picture(): Promise<FormData> {
  const made = new FormData();
  made.append('file', new Blob([await scene(1)]), 'found.jpg');
  return made;
}

/** Runs the job that fills up, as the crontab would. */
async function fill({ deps }: Library): Promise<void> {
  await fillVectorsJob(deps)({}, { lastAttempt: false, log: deps.log });
}

const info = (model: string, dimensions = 8) => JSON.stringify({ model, version: '1', dimensions });
const vector = JSON.stringify({ vector: [1, 0, 0, 0, 0, 0, 0, 0] });

describe('without an encoder', () => {
  // SEARCH-17
  test('search by image is 501 `sidecar_not_installed` and the capability is off', async () => {
    const library = await openLibrary();
    const mara = await arrive(library, 'mara');
    expect(await mara.refused('searchByImage', { body: await picture() })).toEqual({
      status: 501,
      error: 'sidecar_not_installed',
    });
    expect(await enabled(library)).toBe(false);
    await upload(mara, await scene(1));
    await library.runJobs();
    expect(await vectors(library)).toEqual([]);
  });

  // SEARCH-17
  test('one that is configured and out of reach is the same, and uploads go on', async () => {
    const gone = await startEncoder();
    await gone.stop();
    const library = await openLibrary({ VITRINE_ENCODER_URL: gone.address });
    const mara = await arrive(library, 'mara');
    expect(await enabled(library)).toBe(false);
    expect((await mara.refused('searchByImage', { body: await picture() })).status).toBe(501);
    const { id } = await upload(mara, await scene(1));
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
  });
});

describe('an encoder that comes later', () => {
  test('is found, and fed the pictures that were there before', async () => {
    const first = await startEncoder();
    await first.stop();
    const library = await openLibrary({ VITRINE_ENCODER_URL: first.address });
    const mara = await arrive(library, 'mara');
    const { id } = await upload(mara, await scene(1));
    await library.runJobs();
    const encoder = await startEncoder(Number(new URL(first.address).port));
    await fill(library);
    expect(await enabled(library)).toBe(true);
    expect(await vectors(library)).toEqual([{ model: 'vitrine-reference@1', readable: true }]);
    const { items } = await mara.ok('searchByImage', { body: await picture() });
    expect(items.map(({ asset, distance }) => [asset.id, distance])).toEqual([[id, 0]]);
    await encoder.stop();
    expect((await mara.refused('searchByImage', { body: await picture() })).status).toBe(501);
  });

  test('of another model has its own vectors, and the other one’s are dropped', async () => {
    let model = 'old';
    const encoder = await startUnruly((request, response) => {
      response.end(request.url === '/info' ? info(model) : vector);
    });
    const library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
    const mara = await arrive(library, 'mara');
    await upload(mara, await scene(1));
    await library.runJobs();
    await library.runJobs();
    expect(await vectors(library)).toEqual([{ model: 'old@1', readable: true }]);
    model = 'new';
    await fill(library);
    expect(await vectors(library)).toEqual([
      { model: 'new@1', readable: true },
      { model: 'old@1', readable: true },
    ]);
    await fill(library);
    expect(await vectors(library)).toEqual([{ model: 'new@1', readable: true }]);
    await encoder.stop();
  });
});

describe('an encoder that goes wrong', () => {
  const answers: Record<string, string> = {
    garbage: 'not JSON',
    'too few numbers': JSON.stringify({ vector: [1, 2] }),
    'numbers that are none': JSON.stringify({ vector: [1, 0, 0, 'x', 0, 0, 0, 0] }),
    'no direction': JSON.stringify({ vector: [0, 0, 0, 0, 0, 0, 0, 0] }),
    'ten megabytes': `{"vector":[${'1,'.repeat(5_000_000)}1]}`,
  };

  test.each(Object.entries(answers))('answering %s is 501, and nothing of it is kept', async (_, body) => {
    const encoder = await startUnruly((request, response) => {
      response.end(request.url === '/info' ? info('odd') : body);
    });
    const library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
    const mara = await arrive(library, 'mara');
    const { id } = await upload(mara, await scene(1));
    await library.runJobs();
    expect((await mara.refused('searchByImage', { body: await picture() })).status).toBe(501);
    expect(await vectors(library)).toEqual([]);
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
    await encoder.stop();
  });

  test.each([
    ['no object', '7'],
    ['no model', JSON.stringify({ version: '1', dimensions: 8 })],
    ['a vector of one number', info('odd', 1)],
    ['a vector of a million', info('odd', 1_000_000)],
  ])('saying %s of itself counts as none', async (_, said) => {
    const encoder = await startUnruly((_request, response) => response.end(said));
    const library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
    expect(await enabled(library)).toBe(false);
    await encoder.stop();
  });

  test('and that will not have a picture is not asked about it again', async () => {
    let asked = 0;
    const encoder = await startUnruly((request, response) => {
      if (request.url === '/info') return response.end(info('picky'));
      asked += 1;
      return response.writeHead(422).end('{}');
    });
    const library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
    const mara = await arrive(library, 'mara');
    await upload(mara, await scene(1));
    await library.runJobs();
    await library.runJobs();
    expect(await vectors(library)).toEqual([{ model: 'picky@1', readable: false }]);
    await fill(library);
    expect(asked).toBe(1);
    expect((await mara.refused('searchByImage', { body: await picture() })).status).toBe(400);
    await encoder.stop();
  });

  test('and hangs is given up, while the library answers others', async () => {
    const encoder = await startUnruly((request, response) => {
      if (request.url === '/info') response.end(info('slow'));
    });
    const library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
    const mara = await arrive(library, 'mara');
    const asked = mara.refused('searchByImage', { body: await picture() });
    expect((await mara.ok('getMe')).username).toBe('mara');
    await encoder.stop();
    expect((await asked).status).toBe(501);
  });
});

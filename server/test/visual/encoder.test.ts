import type { RequestListener, ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillVectorsJob } from '../../src/visual/jobs/encode.ts';
import { arrive } from '../posts/people.ts';
import { startEncoder, startUnruly } from '../support/encoder.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
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

/** Runs the backfill job, as the crontab does. */
async function fill({ deps }: Library): Promise<void> {
  await fillVectorsJob(deps)({}, { jobId: '1', lastAttempt: false, log: deps.log });
}

const info = (model: string, dimensions = 8) => JSON.stringify({ model, version: '1', dimensions });
const vector = JSON.stringify({ vector: [1, 0, 0, 0, 0, 0, 0, 0] });

describe('without an encoder', () => {
  // SEARCH-17
  test('answers searches by image with 501 `sidecar_not_installed` and reports the capability as off', async () => {
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
  test('renders uploads when the configured one is unreachable', async () => {
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

describe('an encoder that starts later', () => {
  test('receives the pictures that were uploaded before', async () => {
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

  test('of another model replaces the vectors of the previous one', async () => {
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

describe('an encoder that misbehaves', () => {
  let library: Library;
  let mara: Account;
  let pictures = 10;
  let stop: () => Promise<void>;
  /** The response, set by each test. */
  let answer: RequestListener;

  beforeAll(async () => {
    const encoder = await startUnruly((request, response) => answer(request, response));
    stop = encoder.stop;
    answer = (_request, response) => response.end(info('odd'));
    library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
    mara = await arrive(library, 'mara');
  });
  afterAll(() => stop());

  /** Makes the encoder report this model and respond to pictures with `encode`. */
  const behave = async (model: string, encode: (response: ServerResponse) => void) => {
    answer = (request, response) => {
      if (request.url === '/info') response.end(info(model));
      else encode(response);
    };
    await library.deps.encoder?.look();
  };

  async function uploadPicture(): Promise<string> {
    pictures += 1;
    const { id } = await upload(mara, await scene(pictures, 64, 48));
    await library.runJobs();
    return id;
  }

  test.for([
    ['that is not JSON', 'not JSON'],
    ['of too few numbers', JSON.stringify({ vector: [1, 2] })],
    ['with a string among the numbers', JSON.stringify({ vector: [1, 0, 0, 'x', 0, 0, 0, 0] })],
    ['without a direction', JSON.stringify({ vector: [0, 0, 0, 0, 0, 0, 0, 0] })],
    ['of ten megabytes', `{"vector":[${'1,'.repeat(5_000_000)}1]}`],
  ] as const)('an answer %s is 501 to searches and is not stored', async ([, body]) => {
    await behave('odd', (response) => response.end(body));
    const id = await uploadPicture();
    expect((await mara.refused('searchByImage', { body: await picture() })).status).toBe(501);
    expect(await vectors(library)).toEqual([]);
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
  });

  test.for([
    ['no object', '7'],
    ['no model', JSON.stringify({ version: '1', dimensions: 8 })],
    ['a vector of one number', info('odd', 1)],
    ['a vector of a million numbers', info('odd', 1_000_000)],
  ] as const)('that reports %s counts as none', async ([, said]) => {
    await behave('odd', (response) => response.end(vector));
    expect(await enabled(library)).toBe(true);
    answer = (_request, response) => response.end(said);
    await library.deps.encoder?.look();
    expect(await enabled(library)).toBe(false);
  });

  test('that hangs does not keep the library from answering others', async () => {
    await behave('slow', () => {});
    const searched = mara.refused('searchByImage', { body: await picture() });
    expect((await mara.ok('getMe')).username).toBe('mara');
    await stop();
    expect((await searched).status).toBe(501);
  });
});

test('a picture that the encoder refuses is not sent again', async () => {
  let sent = 0;
  const encoder = await startUnruly((request, response) => {
    if (request.url === '/info') return response.end(info('picky'));
    sent += 1;
    return response.writeHead(422).end('{}');
  });
  const library = await openLibrary({ VITRINE_ENCODER_URL: encoder.address });
  const mara = await arrive(library, 'mara');
  await upload(mara, await scene(1));
  await library.runJobs();
  await library.runJobs();
  expect(await vectors(library)).toEqual([{ model: 'picky@1', readable: false }]);
  await fill(library);
  expect(sent).toBe(1);
  expect((await mara.refused('searchByImage', { body: await picture() })).status).toBe(400);
  await encoder.stop();
});

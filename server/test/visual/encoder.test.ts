import type { RequestListener, ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { fillVectorsJob } from '../../src/content/visual/jobs/encode.ts';
import { startEncoder, startUnruly } from '../support/encoder.ts';
import { formOf, type Library, openLibrary, upload } from '../support/library.ts';
import { freePort } from '../support/programs.ts';
import { scene } from './scenes.ts';

const enabled = async (library: Library) =>
  (await library.anonymous().ok('getAppearance')).visual_search_enabled;

async function vectors({ deps: { db } }: Library) {
  const { rows } = await sql<{ model: string; readable: boolean }>`
    select model, vector is not null as readable from picture_vectors order by model, file_hash`.execute(db);
  return rows;
}

const picture = async () => formOf(await scene(1));

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
    const mara = await library.join('mara');
    expect(await mara.refused('searchByImage', { body: await picture() })).toEqual({
      status: 501,
      error: 'sidecar_not_installed',
    });
    // Before the query is checked.
    for (const body of ['{}', new FormData()])
      expect(await mara.status('POST', '/search/by-image', body)).toBe(501);
    expect(await enabled(library)).toBe(false);
    await upload(mara, await scene(1, 64, 48));
    await library.runJobs();
    expect(await vectors(library)).toEqual([]);
  });

  // SEARCH-17
  test('renders uploads when the configured one is unreachable, which receives them when it starts', async () => {
    const port = await freePort();
    const library = await openLibrary({ VITRINE_ENCODER_URL: `http://127.0.0.1:${port}` });
    const mara = await library.join('mara');
    const refused = async () => (await mara.refused('searchByImage', { body: await picture() })).status;
    expect([await enabled(library), await refused()]).toEqual([false, 501]);
    const { id } = await upload(mara, await scene(1));
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
    const encoder = await startEncoder(port);
    await fill(library);
    expect(await enabled(library)).toBe(true);
    expect(await vectors(library)).toEqual([{ model: 'vitrine-reference@1', readable: true }]);
    const { items } = await mara.ok('searchByImage', { body: await picture() });
    expect(items.map(({ asset, distance }) => [asset.id, distance])).toEqual([[id, 0]]);
    await encoder.stop();
    expect(await refused()).toBe(501);
  });
});

/** The response of the encoder that misbehaves, set by each test. */
let answer: RequestListener = (_request, response) => response.end(info('odd'));
const { address, stop } = await startUnruly((request, response) => answer(request, response));
const library = await openLibrary({ VITRINE_ENCODER_URL: address });
const mara = await library.join('mara');
afterAll(stop);

describe('an encoder that misbehaves', () => {
  let pictures = 10;

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

  test('of another model replaces the vectors of the previous one, and refused pictures are not sent again', async () => {
    const models = async () => new Set((await vectors(library)).map((one) => `${one.model} ${one.readable}`));
    await behave('old', (response) => response.end(vector));
    await fill(library);
    expect(await models()).toEqual(new Set(['old@1 true']));
    let sent = 0;
    await behave('picky', (response) => {
      sent += 1;
      response.writeHead(422).end('{}');
    });
    await fill(library);
    expect(await models()).toEqual(new Set(['old@1 true', 'picky@1 false']));
    await fill(library);
    expect(await models()).toEqual(new Set(['picky@1 false']));
    expect(sent).toBe((await vectors(library)).length);
    expect((await mara.refused('searchByImage', { body: await picture() })).status).toBe(400);
  });

  test('that hangs does not keep the library from answering others', async () => {
    await behave('slow', () => {});
    const searched = mara.refused('searchByImage', { body: await picture() });
    expect((await mara.ok('getMe')).username).toBe('mara');
    await stop();
    expect((await searched).status).toBe(501);
  });
});

import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { startSession } from '../../src/people/identity/sessions.ts';
import { requestAs } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { grant, withdrawGrants } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

/** Counts the statements of previews, and checks rights per request although requests share statements. */

const library = await openLibrary();
const [mara, timo] = await library.joinAll('mara', 'timo');
const bytes = await jpeg(60, 40);
await upload(mara, bytes);
await library.runJobs();

/** Adds an asset of rendered bytes. */
const picture = async (fields: Record<string, string> = {}) => (await upload(mara, bytes, fields)).id;

async function statusOf(id: string, token = timo.cookie()): Promise<number> {
  const response = await requestAs({ cookie: () => token }, library, `/assets/${id}/variants/col`);
  await response.arrayBuffer();
  return response.status;
}

/** Requests the preview twice, because the second request may use what the first has read. */
const twice = async (id: string, token?: string) => [await statusOf(id, token), await statusOf(id, token)];
const served = [200, 200];

describe('a preview', () => {
  test('takes one statement for a session that was seen before', { tags: ['one-process'] }, async () => {
    const id = await picture();
    await statusOf(id);
    expect(await countStatements(library, () => statusOf(id))).toEqual([200, 1]);
  });

  test('is decided separately for each of many concurrent requests, also beside malformed ones', async () => {
    const ids = [await picture(), await picture({ sensitivity: 'restricted' }), 'no-uuid'];
    const asked = Array.from({ length: 10 }, () => ids).flat();
    const statuses = await Promise.all(asked.map((id) => statusOf(id)));
    expect(statuses).toEqual(asked.map((_, at) => [200, 404, 400][at % 3]));
  });
});

// FILE-9
describe('the next request for a preview takes into account', () => {
  test('that its session has ended', async () => {
    const id = await picture();
    const session = { userRef: timo.ref, days: 1, address: '', userAgent: '' };
    const token = (await startSession(library.deps.db, session)).token;
    expect(await twice(id, token)).toEqual(served);
    // Ends the session without this process noticing, as another process would.
    await sql`delete from sessions where user_ref = ${timo.ref} and token_hash =
      sha256(${token}::text::bytea)`.execute(library.deps.db);
    expect(await statusOf(id, token)).toBe(401);
  });

  test('that a share was revoked', async () => {
    const id = await picture({ sensitivity: 'restricted' });
    const share = { params: { id, user_ref: timo.ref } };
    await mara.ok('putAssetShare', { ...share, body: {} });
    expect(await twice(id)).toEqual(served);
    await mara.ok('deleteAssetShare', share);
    expect(await statusOf(id)).toBe(404);
  });

  test('that its post was made private', async () => {
    const id = await picture({ sensitivity: 'posts' });
    const post = await publish(mara, [{ id }], { visibility: 'org-only' });
    expect(await twice(id)).toEqual(served);
    await mara.ok('updatePost', { params: { id: post.id }, body: { visibility: 'private' } });
    expect(await statusOf(id)).toBe(404);
  });

  test('that a capability was granted or revoked', async () => {
    const id = await picture({ sensitivity: 'restricted' });
    expect(await twice(id)).toEqual([404, 404]);
    await grant(library, timo, 'content.read.all');
    expect(await twice(id)).toEqual(served);
    await withdrawGrants(library, timo);
    expect(await statusOf(id)).toBe(404);
  });

  test('that the account opted out of mature content', async () => {
    const id = await picture({ mature: 'true' });
    const show = (shown: boolean) =>
      timo.ok('updatePreferences', { body: { mature_content: { show: shown } } });
    expect(await statusOf(id)).toBe(404);
    await show(true);
    expect(await twice(id)).toEqual(served);
    await show(false);
    expect(await statusOf(id)).toBe(404);
  });

  test('that public mode was turned off', async () => {
    const id = await picture();
    await library.setPublicMode(true);
    expect(await twice(id, '')).toEqual(served);
    await library.setPublicMode(false);
    expect(await statusOf(id, '')).toBe(401);
  });
});

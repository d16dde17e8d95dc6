import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSession } from '../../src/identity/sessions.ts';
import { grant } from '../posts/people.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

/** Counts the statements of previews, and checks rights per request although requests share statements. */
let library: Library;
let mara: Account;
let timo: Account;
let seed = 70;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  timo = await library.join('timo');
});

async function picture(fields: Record<string, string> = {}): Promise<string> {
  seed += 1;
  const { id } = await upload(mara, await jpeg(400, 300, { seed }), fields);
  await library.runJobs();
  return id;
}

async function statusOf(id: string, token: string | undefined = timo.cookie()): Promise<number> {
  const headers = token === undefined ? {} : { cookie: `user=${token}` };
  const response = await fetch(`${library.address}/api/v1/assets/${id}/variants/col`, { headers });
  await response.arrayBuffer();
  return response.status;
}

describe('a preview', () => {
  test('takes one statement for a session that was seen before', async () => {
    const id = await picture();
    await statusOf(id);
    expect(await countStatements(library, () => statusOf(id))).toEqual([200, 1]);
  });

  test('is decided separately for each of many concurrent requests', async () => {
    const ids = [await picture(), await picture(), await picture({ sensitivity: 'restricted' })];
    for (const id of ids) await statusOf(id);
    const asked = Array.from({ length: 10 }, () => ids).flat();
    const statuses = await Promise.all(asked.map((id) => statusOf(id)));
    expect(statuses).toEqual(asked.map((_, at) => (at % 3 === 2 ? 404 : 200)));
  });

  test('returns 400 for a malformed id, also among concurrent valid ones', async () => {
    const id = await picture();
    const statuses = await Promise.all([statusOf(id), statusOf('no-uuid'), statusOf(id)]);
    expect(statuses).toEqual([200, 400, 200]);
  });
});

// FILE-9
describe('the next request for a preview takes into account', () => {
  test('that its session has ended', async () => {
    const id = await picture();
    const session = { userRef: timo.ref, days: 1, address: '', userAgent: '' };
    const token = await startSession(library.deps.db, session);
    expect([await statusOf(id, token), await statusOf(id, token)]).toEqual([200, 200]);
    // Ends the session without this process noticing, as another process would.
    await sql`delete from sessions where user_ref = ${timo.ref} and token_hash =
      sha256(${token}::text::bytea)`.execute(library.deps.db);
    expect(await statusOf(id, token)).toBe(401);
  });

  test('that a share was revoked', async () => {
    const id = await picture({ sensitivity: 'restricted' });
    const share = { params: { id, user_ref: timo.ref } };
    await mara.ok('putAssetShare', { ...share, body: {} });
    expect([await statusOf(id), await statusOf(id)]).toEqual([200, 200]);
    await mara.ok('deleteAssetShare', share);
    expect(await statusOf(id)).toBe(404);
  });

  test('that its post was made private', async () => {
    const id = await picture({ sensitivity: 'posts' });
    const post = await publish(mara, [{ id }], { visibility: 'org-only' });
    expect([await statusOf(id), await statusOf(id)]).toEqual([200, 200]);
    await mara.ok('updatePost', { params: { id: post.id }, body: { visibility: 'private' } });
    expect(await statusOf(id)).toBe(404);
  });

  test('that a capability was granted or revoked', async () => {
    const id = await picture({ sensitivity: 'restricted' });
    const ines = await library.join('ines');
    const ask = () => statusOf(id, ines.cookie());
    expect([await ask(), await ask()]).toEqual([404, 404]);
    await grant(library, ines, 'content.read.all');
    expect([await ask(), await ask()]).toEqual([200, 200]);
    await sql`delete from user_capability_grants where user_ref = ${ines.ref}`.execute(library.deps.db);
    expect(await ask()).toBe(404);
  });

  test('that the account opted out of mature content', async () => {
    const id = await picture({ mature: 'true' });
    const noor = await library.join('noor');
    const ask = () => statusOf(id, noor.cookie());
    const show = (shown: boolean) =>
      noor.ok('updatePreferences', { body: { mature_content: { show: shown } } });
    expect(await ask()).toBe(404);
    await show(true);
    expect([await ask(), await ask()]).toEqual([200, 200]);
    await show(false);
    expect(await ask()).toBe(404);
  });

  test('that public mode was turned off', async () => {
    const id = await picture();
    const ask = async () => {
      const response = await fetch(`${library.address}/api/v1/assets/${id}/variants/col`);
      await response.arrayBuffer();
      return response.status;
    };
    await library.setPublicMode(true);
    expect([await ask(), await ask()]).toEqual([200, 200]);
    await library.setPublicMode(false);
    expect(await ask()).toBe(401);
  });
});

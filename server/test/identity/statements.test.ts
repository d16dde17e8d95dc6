// @module-tag one-process
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { actAs, bearer } from '../support/people.ts';
import { countStatements } from '../support/statements.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');

/** Returns the numbers of statements of two consecutive `GET /auth/me`. */
async function statements(visitor: Visitor): Promise<number[]> {
  const ask = () => visitor.ok('getMe');
  const [first, second] = [await countStatements(library, ask), await countStatements(library, ask)];
  return [first[1], second[1]];
}

test('a session, a token or an impersonation is resolved in one statement', async () => {
  const token = await bearer(library, mara, ['read']);
  const mask = await actAs(library, root, mara);
  for (const visitor of [mara, token, mask]) {
    await visitor.ok('getMe');
    expect(await statements(visitor)).toEqual([1, 1]);
  }
});

test('concurrent requests of a session share statements, and see what changed before they were sent', async () => {
  const { db } = library.deps;
  const askTogether = () => Promise.all(Array.from({ length: 40 }, () => mara.ok('getMe')));
  // The first statement waits, so that the other requests arrive while it runs.
  const askBehindLock = () =>
    db.transaction().execute(async (trx) => {
      await sql`lock table users in access exclusive mode`.execute(trx);
      const asked = askTogether();
      expect(await comeToWait(db)).toBe(true);
      return { asked };
    });
  const [answers, count] = await countStatements(library, async () => (await askBehindLock()).asked);
  expect(new Set(answers.map(({ username }) => username))).toEqual(new Set(['mara']));
  expect(count).toBeLessThan(40);
  // The statements of these requests may have begun when the account is renamed; later requests do not share them.
  const before = askTogether();
  await sql`update users set fullname = 'Mara Renamed' where ref = ${mara.ref}`.execute(db);
  const after = await askTogether();
  await before;
  expect(new Set(after.map(({ fullname }) => fullname))).toEqual(new Set(['Mara Renamed']));
});

// ROLE-4
test('capabilities take one more statement after roles, grants or revokes have changed', async () => {
  await mara.ok('getMe');
  await sql`insert into user_capability_grants (user_ref, capability) values (${mara.ref}, 'posts.admin')`.execute(
    library.deps.db,
  );
  expect(await statements(mara)).toEqual([2, 1]);
  expect((await mara.ok('getMe')).capabilities).toContain('posts.admin');
});

test('an anonymous caller takes one statement, in public mode or not', async () => {
  const visitor = library.anonymous();
  for (const isPublic of [false, true]) {
    await library.setPublicMode(isPublic);
    expect((await countStatements(library, () => visitor.refused('getMe')))[1]).toBe(1);
  }
});

import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';
import { actAs, bearer } from '../support/people.ts';
import { countStatements } from '../support/statements.ts';

let library: Library;
let mara: Account;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  mara = await library.join('mara');
});

/** Statements of `GET /auth/me`, and of the one after it. */
async function statements(visitor: Visitor): Promise<number[]> {
  const ask = () => visitor.ok('getMe');
  const [first, second] = [await countStatements(library, ask), await countStatements(library, ask)];
  return [first[1], second[1]];
}

test('who is asking is one statement: a session, a bearer token, a mask', async () => {
  const token = await bearer(library, mara, ['read']);
  const mask = await actAs(library, root, mara);
  for (const visitor of [mara, token, mask]) {
    await visitor.ok('getMe');
    expect(await statements(visitor)).toEqual([1, 1]);
  }
});

// ROLE-4
test('and one more for capabilities when roles, grants or revokes have changed since', async () => {
  await mara.ok('getMe');
  await sql`insert into user_capability_grants (user_ref, capability) values (${mara.ref}, 'posts.admin')`.execute(
    library.deps.db,
  );
  expect(await statements(mara)).toEqual([2, 1]);
  expect((await mara.ok('getMe')).capabilities).toContain('posts.admin');
});

test('of an anonymous visitor it is one, in public mode or not', async () => {
  const visitor = library.anonymous();
  for (const isPublic of [false, true]) {
    await library.setPublicMode(isPublic);
    expect((await countStatements(library, () => visitor.refused('getMe')))[1]).toBe(1);
  }
});

// @module-tag one-process
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

const MANY = 10;

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [mara, otto] = await library.joinAll('mara', 'otto');
const { db } = library.deps;
await sql`insert into teams (slug, name)
    select 'team-' || n, 'Team ' || n from generate_series(1, ${MANY}) n`.execute(db);
await sql`insert into team_follows (team_id, user_ref) select id, ${mara.ref} from teams`.execute(db);
await sql`insert into team_parents (team_id, parent_id)
    select t.id, p.id from teams t, teams p where p.slug = 'team-1' and t.id <> p.id`.execute(db);
const asset = await upload(mara, plainFile('asked for'), { sensitivity: 'restricted' });
await sql`insert into resource_requests (requester_user_ref, target_kind, target_id, requested_capability, state)
    select ${otto.ref}, 'asset', ${asset.id}, 'content.access.request', 'denied'
    from generate_series(1, ${MANY})`.execute(db);

/** Returns a response and the number of its statements; capabilities are cached and need none. */
async function statements(visitor: Visitor, ask: (visitor: Visitor) => Promise<number>): Promise<number[]> {
  await ask(visitor);
  return countStatements(library, () => ask(visitor));
}

test.each([1, MANY])('the list of %i teams takes one statement after the session’s', async (limit) => {
  const list = async (visitor: Visitor) => (await visitor.ok('listTeams', { query: { limit } })).items.length;
  expect(await statements(mara, list)).toEqual([limit, 2]);
});

test('the list of followed teams takes one statement after the session’s', async () => {
  const list = async (visitor: Visitor) => (await visitor.ok('listFollowedTeams')).length;
  expect(await statements(mara, list)).toEqual([MANY, 2]);
  expect(await statements(otto, list)).toEqual([0, 2]);
});

test.each([1, MANY])('each queue of %i requests takes one statement after the session’s', async (limit) => {
  const incoming = async (visitor: Visitor) =>
    (await visitor.ok('listIncomingRequests', { query: { limit } })).items.length;
  const all = async (visitor: Visitor) =>
    (await visitor.ok('listAllRequests', { query: { limit } })).items.length;
  expect(await statements(mara, incoming)).toEqual([limit, 2]);
  expect(await statements(otto, incoming)).toEqual([0, 2]);
  expect(await statements(root, all)).toEqual([limit, 2]);
});

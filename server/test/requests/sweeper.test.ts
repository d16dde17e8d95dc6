import type { ResourceRequest } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

let made = 0;

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [owner, sharer] = await library.joinAll('owner', 'sharer');
await grant(library, sharer, 'share.grant');
const hash = (await upload(owner, plainFile())).file_hash ?? '';

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

interface Granted {
  asker: Account;
  request: ResourceRequest;
}

/** Requests `jobs.read` for a new asset. */
async function ask(asker: Account): Promise<ResourceRequest> {
  const { id } = await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });
  return asker.ok('requestAccess', { params: { id }, body: { capability: 'jobs.read' } });
}

/** Creates an account with a granted request for `jobs.read` that expires in an hour, or never. */
async function granted(expires_at: string | null = inAnHour()): Promise<Granted> {
  made += 1;
  const asker = await library.join(`asker ${made}`);
  const { id } = await ask(asker);
  const body = { decision: 'granted', expires_at, reason: 'for a while' } as const;
  return { asker, request: await sharer.ok('decideRequest', { params: { id }, body }) };
}

/** Moves ends within the next hour into the past. */
const letRunOut = ({ asker }: Granted) =>
  db
    .updateTable('user_capability_grants')
    .set({ expires_at: sql<string>`now() - interval '1 second'` })
    .where('user_ref', '=', asker.ref)
    .where('expires_at', 'is not', null)
    .execute();
const sweep = () => expire(db);
const requestsOf = async ({ asker }: Granted) => (await asker.ok('listMyRequests')).items;
const grantsOf = ({ asker }: Granted) =>
  db
    .selectFrom('user_capability_grants')
    .select(['capability', 'request_ref'])
    .where('user_ref', '=', asker.ref)
    .execute();
const holds = async ({ asker }: Granted) => (await asker.ok('getMe')).capabilities?.includes('jobs.read');

// REQUEST-14
describe('the expiry of a granted request', () => {
  test('ends the capability, and the sweep removes the grant and marks the request', async () => {
    const one = await granted();
    expect(await holds(one)).toBe(true);
    await letRunOut(one);
    expect(await holds(one)).toBe(false);
    // The end stays in the response, because null would mean that there was none (REQUEST-15).
    const [ended] = await requestsOf(one);
    expect(ended?.state).toBe('granted');
    expect(Date.parse(ended?.grant_expires_at ?? '')).toBeLessThan(Date.now());
    expect(await sweep()).toBe(1);
    expect(await grantsOf(one)).toEqual([]);
    const { grant_expires_at } = ended ?? {};
    const expired = { state: 'expired', decidable_by_caller: false, grant_expires_at };
    expect(await requestsOf(one)).toEqual([{ ...one.request, ...expired }]);
    expect(await holds(one)).toBe(false);
    expect(await sweep()).toBe(0);
  });

  // REQUEST-14
  test('runs the sweep when the grant expires', async () => {
    const one = await granted();
    const at = new Date(one.request.grant_expires_at ?? 0).toISOString();
    const mine = sql`key = ${`expire:${at}`}`;
    const { rows } = await sql<{ run_at: string }>`
      select run_at::timestamptz(3) as run_at from graphile_worker.jobs where ${mine}`.execute(db);
    expect(rows).toEqual([{ run_at: one.request.grant_expires_at }]);
    await letRunOut(one);
    await sql`select graphile_worker.reschedule_jobs(
      array(select id from graphile_worker.jobs where ${mine}), run_at => now())`.execute(db);
    await library.runJobs();
    expect(await requestsOf(one)).toMatchObject([{ state: 'expired' }]);
  });

  // REQUEST-14
  test('expires grant and request in one transaction', async () => {
    const one = await granted();
    await letRunOut(one);
    await sql`create function refuse_expiry() returns trigger language plpgsql as
      $$ begin raise exception 'not now'; end $$`.execute(db);
    await sql`create trigger refuse_expiry before update on resource_requests
      for each row execute function refuse_expiry()`.execute(db);
    await expect(sweep()).rejects.toThrow('not now');
    expect(await grantsOf(one)).toHaveLength(1);
    expect(await requestsOf(one)).toMatchObject([{ state: 'granted' }]);
    await sql`drop trigger refuse_expiry on resource_requests`.execute(db);
    expect(await sweep()).toBe(1);
    expect([await grantsOf(one), (await requestsOf(one))[0]?.state]).toEqual([[], 'expired']);
  });

  test('expires a grant once under two concurrent sweeps', async () => {
    const one = await granted();
    await letRunOut(one);
    const counts = await Promise.all([sweep(), sweep(), sweep()]);
    expect(counts.sort()).toEqual([0, 0, 1]);
    const query = { event: 'capability.grant.expired', subject: one.asker.ref };
    const { items } = await root.ok('listAudit', { query });
    expect(items).toMatchObject([{ actor_user_ref: null, metadata: { capability: 'jobs.read' } }]);
  });

  test('returns 409 for an expired request, and allows another', async () => {
    const one = await granted();
    await letRunOut(one);
    await sweep();
    const { id, target_id } = one.request;
    for (const decision of ['granted', 'denied'] as const) {
      const input = { params: { id }, body: { decision } };
      expect((await sharer.refused('decideRequest', input)).status).toBe(409);
    }
    const input = { params: { id: target_id }, body: { capability: 'jobs.read' } };
    const again = await one.asker.ok('requestAccess', input);
    expect([again.state, again.id === id]).toEqual(['pending', false]);
    await sharer.ok('decideRequest', { params: { id: again.id }, body: { decision: 'granted' } });
    expect(await holds(one)).toBe(true);
    await sweep();
    expect((await requestsOf(one)).map(({ state }) => state)).toEqual(['granted', 'expired']);
  });
});

describe('the sweep keeps', () => {
  test('pending and denied requests, and grants without an end or with a later one', async () => {
    const one = await granted();
    const kept = [await granted(null), await granted()];
    const denied = await ask(one.asker);
    await sharer.ok('decideRequest', { params: { id: denied.id }, body: { decision: 'denied' } });
    await ask(one.asker);
    await letRunOut(one);
    expect(await sweep()).toBe(1);
    expect((await requestsOf(one)).map(({ state }) => state)).toEqual(['pending', 'denied', 'expired']);
    for (const other of kept) {
      expect(await requestsOf(other)).toMatchObject([{ state: 'granted' }]);
      expect(await holds(other)).toBe(true);
    }
  });

  test('a direct grant beside an expired one by request, and vice versa', async () => {
    const byRequest = await granted();
    const params = { ref: byRequest.asker.ref };
    await root.ok('grantCapability', { params, body: { capability: 'jobs.read' } });
    await letRunOut(byRequest);
    expect(await sweep()).toBe(1);
    expect(await grantsOf(byRequest)).toEqual([{ capability: 'jobs.read', request_ref: null }]);
    expect(await holds(byRequest)).toBe(true);
    expect(await requestsOf(byRequest)).toMatchObject([{ state: 'expired' }]);

    const byHand = await granted(null);
    const ended = { user_ref: byHand.asker.ref, capability: 'jobs.read', expires_at: '2026-01-01T00:00:00Z' };
    await db.insertInto('user_capability_grants').values(ended).execute();
    expect(await sweep()).toBe(1);
    expect(await grantsOf(byHand)).toEqual([{ capability: 'jobs.read', request_ref: byHand.request.id }]);
    expect(await requestsOf(byHand)).toMatchObject([{ state: 'granted' }]);
  });
});

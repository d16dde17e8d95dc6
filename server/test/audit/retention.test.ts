import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { retainAudit } from '../../src/audit/retention.ts';
import { enqueue } from '../../src/job-table.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

let library: Library;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
});

const keep = (retention_days: number | null) => root.ok('setAuditRetention', { body: { retention_days } });

/** An event that happened this long ago. */
async function happened(event: string, ago: string): Promise<void> {
  await sql`insert into audit_events (event, occurred_at) values (${event}, now() - ${ago}::interval)`.execute(
    library.deps.db,
  );
}

async function remaining(): Promise<string[]> {
  const { items } = await root.ok('listAudit', { query: { event: 'aged.*', limit: 200 } });
  return items.map(({ event }) => event).sort();
}

describe('events are kept', () => {
  beforeEach(async () => {
    await keep(1);
    await retainAudit(library.deps.db);
    await keep(null);
    expect((await remaining()).filter((event) => event !== 'aged.young')).toEqual([]);
    await happened('aged.ancient', '20 years');
    await happened('aged.old', '25 hours');
  });

  // AUDIT-4
  test('forever by default', async () => {
    const fresh = await openLibrary();
    const admin = await fresh.join('root', 'admin');
    expect(await admin.ok('getAuditRetention')).toEqual({ retention_days: null });
    await sql`insert into audit_events (event, occurred_at) values ('aged', '1999-01-01')`.execute(
      fresh.deps.db,
    );
    expect(await retainAudit(fresh.deps.db)).toBe(0);
    expect((await admin.ok('listAudit', { query: { event: 'aged' } })).items).toHaveLength(1);
  });

  test('forever with null, also after a limit', async () => {
    expect(await retainAudit(library.deps.db)).toBe(0);
    expect(await remaining()).toEqual(expect.arrayContaining(['aged.ancient', 'aged.old']));
  });

  // AUDIT-4
  test('for the configured number of days', async () => {
    await happened('aged.young', '23 hours');
    await keep(1);
    expect(await remaining()).toEqual(expect.arrayContaining(['aged.ancient', 'aged.old', 'aged.young']));
    expect(await retainAudit(library.deps.db)).toBe(2);
    expect([...new Set(await remaining())]).toEqual(['aged.young']);
    expect(await retainAudit(library.deps.db)).toBe(0);
    await keep(2);
    await happened('aged.old', '25 hours');
    expect(await retainAudit(library.deps.db)).toBe(0);
    expect(await remaining()).toContain('aged.old');
  });

  test('until the nightly job, which keeps the guard for everyone else', async () => {
    const { db } = library.deps;
    await keep(1);
    await db.transaction().execute((tx) => enqueue(tx, 'retain-audit', {}, { key: 'retain-audit' }));
    await library.runJobs();
    expect(await remaining()).not.toContain('aged.ancient');
    const again = await Promise.allSettled(
      Array.from({ length: 8 }, () => sql`delete from audit_events`.execute(db)),
    );
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set(['rejected']));
  });
});

describe('the setting', () => {
  test('is returned as set, and the change is audited', async () => {
    for (const retention_days of [1, 36_500, null, 90]) {
      expect(await keep(retention_days)).toEqual({ retention_days });
      expect(await root.ok('getAuditRetention')).toEqual({ retention_days });
      const [event] = (await root.ok('listAudit')).items;
      expect(event).toMatchObject({
        event: 'audit.retention.changed',
        actor_user_ref: root.ref,
        metadata: { retention_days },
      });
    }
  });

  test('needs system.config.read to read and system.config.write to change', async () => {
    const member = await library.join('member');
    const reader = await library.join('reader');
    await library.deps.db
      .insertInto('user_capability_grants')
      .values(
        ['system.config.read', 'system.audit.read'].map((capability) => ({
          user_ref: reader.ref,
          capability,
        })),
      )
      .execute();
    const body = { retention_days: 1 };
    const before = await root.ok('getAuditRetention');
    expect((await library.anonymous().refused('getAuditRetention')).status).toBe(401);
    expect((await library.anonymous().refused('setAuditRetention', { body })).status).toBe(401);
    expect((await member.refused('getAuditRetention')).status).toBe(403);
    expect((await member.refused('setAuditRetention', { body })).status).toBe(403);
    expect(await reader.ok('getAuditRetention')).toEqual(before);
    expect((await reader.refused('setAuditRetention', { body })).error).toBe(
      'missing capability system.config.write',
    );
    expect(await root.ok('getAuditRetention')).toEqual(before);
  });
});

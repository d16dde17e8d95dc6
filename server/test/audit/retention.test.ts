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
    await happened('aged.ancient', '20 years');
    await happened('aged.old', '25 hours');
    await happened('aged.young', '23 hours');
  });

  // AUDIT-4
  test('forever by default, and for the configured number of days', async () => {
    const { db } = library.deps;
    expect(await root.ok('getAuditRetention')).toEqual({ retention_days: null });
    expect(await retainAudit(db)).toBe(0);
    expect(await remaining()).toEqual(['aged.ancient', 'aged.old', 'aged.young']);
    await keep(2);
    expect(await retainAudit(db)).toBe(1);
    await keep(null);
    expect(await retainAudit(db)).toBe(0);
    expect(await remaining()).toEqual(['aged.old', 'aged.young']);
    await keep(1);
    expect(await remaining()).toEqual(['aged.old', 'aged.young']);
    expect([await retainAudit(db), await remaining()]).toEqual([1, ['aged.young']]);
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

test('the setting is returned as set', async () => {
  for (const retention_days of [1, 36_500, null, 90]) {
    expect(await keep(retention_days)).toEqual({ retention_days });
    expect(await root.ok('getAuditRetention')).toEqual({ retention_days });
  }
});

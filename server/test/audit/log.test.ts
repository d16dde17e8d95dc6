import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { enqueue } from '../../src/core/job-table.ts';
import { recordEvent } from '../../src/people/audit/record.ts';
import { retainAudit } from '../../src/people/audit/retention.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, password, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { actAs, grant, sessionIdOf } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { watchStatements } from '../support/statements.ts';

/** Records an event of this name on behalf of the server. */
async function happens(event: string, subject?: Account): Promise<void> {
  const recorded = { event, ...(subject && { subjectUserRef: subject.ref }) };
  await db.transaction().execute((tx) => recordEvent(tx, null, recorded));
}

interface Filters {
  actor?: number;
  subject?: number;
  event?: string;
  from?: string;
  to?: string;
}

/** Returns the events that a caller sees, from all pages. */
async function everything(caller: Visitor, filters: Filters = {}) {
  const pages = pagesOf((from) => caller.ok('listAudit', { query: { limit: 200, ...filters, ...from } }));
  return (await pages).flat();
}

async function exportOf(caller: Visitor, query = ''): Promise<Record<string, string>[]> {
  const answer = await caller.send(`/admin/audit/export${query}`);
  expect(answer.status, answer.text).toBe(200);
  return parse<Record<string, string>>(answer.text, { columns: true });
}

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
/** The auditor has `system.audit.read` alone; trusted also has `users.pii.read`. */
const [auditor, trusted] = [await library.join('auditor', 'viewer'), await library.join('trusted', 'viewer')];
await grant(library, auditor, 'system.audit.read');
await grant(library, trusted, ['system.audit.read', 'users.pii.read']);

describe('GET /admin/audit', () => {
  // AUDIT-3
  test('filters by time: from the first moment until before the last', async () => {
    for (const event of ['timed', 'timed', 'timed']) await happens(event);
    await sql`alter table audit_events disable trigger audit_events_kept`.execute(db);
    await sql`update audit_events e set occurred_at = now() - n * interval '1 hour'
      from (select id, row_number() over (order by id) as n from audit_events where event = 'timed') numbered
      where numbered.id = e.id`.execute(db);
    await sql`alter table audit_events enable trigger audit_events_kept`.execute(db);
    const timesOf = async (filters: Filters) => {
      const events = await everything(auditor, { event: 'timed', ...filters });
      return events.map(({ occurred_at: at }) => at);
    };
    const [third = '', second = '', first = ''] = await timesOf({});
    expect(await timesOf({ from: second })).toEqual([third, second]);
    expect(await timesOf({ to: second })).toEqual([first]);
    expect(await timesOf({ from: second, to: third })).toEqual([second]);
    expect(await auditor.status('GET', '/admin/audit?from=yesterday')).toBe(400);
  });

  test('returns event, actor, subject and time', async () => {
    const subject = await library.join('subject', 'viewer');
    const before = Date.now();
    const body = { status: 'disabled', reason: 'left' } as const;
    await root.ok('setUserStatus', { params: { ref: subject.ref }, body });
    const [event] = (await root.ok('listAudit')).items;
    expect(event).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event: 'user.status.changed',
      actor_user_ref: root.ref,
      actor: { ref: root.ref, username: 'root', display_name: 'root', avatar_url: null },
      subject_user_ref: subject.ref,
      subject: { ref: subject.ref, username: 'subject', display_name: 'subject', avatar_url: null },
      metadata: body,
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    });
    expect(Math.abs(Date.parse(event?.occurred_at ?? '') - before)).toBeLessThan(60_000);
  });

  test('omits what an event does not have', async () => {
    await happens('nobody.did.it');
    const [bare] = await everything(root, { event: 'nobody.did.it' });
    expect(bare).toEqual({
      id: expect.any(String),
      event: 'nobody.did.it',
      actor_user_ref: null,
      metadata: {},
      occurred_at: expect.any(String),
    });
    const phone = await library.join('touched', 'viewer');
    const id = await sessionIdOf(phone);
    await root.ok('endUserSession', { params: { ref: phone.ref, id } });
    const [ended] = await everything(root, { event: 'auth.session.ended' });
    expect(ended).toMatchObject({ target_kind: 'session', target_id: id });
  });

  // AUDIT-3
  // AUDIT-8
  test('names the title of a target that the caller may see', async () => {
    const fields = { title: 'Sealed', sensitivity: 'restricted' };
    const { id } = await upload(root, plainFile(), fields);
    await root.ok('deleteAsset', { params: { id }, body: undefined });
    const titlesFor = async (caller: Visitor) =>
      (await everything(caller, { event: 'asset.*' }))
        .filter(({ target_id }) => target_id === id)
        .map(({ target_title }) => target_title);
    expect(await titlesFor(root)).toEqual([undefined]);
    await root.ok('restoreAsset', { params: { id } });
    expect(await titlesFor(root)).toEqual(['Sealed']);
    expect(await titlesFor(auditor)).toEqual([undefined]);
  });

  test('is newest first, in a stable order, and pages without gaps while events arrive', async () => {
    await sql`insert into audit_events (event, occurred_at)
      select 'paged', now() - (i / 4) * interval '1 millisecond' from generate_series(1, 11) i`.execute(db);
    const items = await everything(root);
    const keys = items.map(({ occurred_at, id }) => `${new Date(occurred_at).toISOString()} ${id}`);
    expect(keys).toEqual(keys.toSorted().reverse());
    const paged = items.filter(({ event }) => event === 'paged').map(({ id }) => id);
    const pages = await pagesOf(async (from) => {
      const page = await root.ok('listAudit', { query: { limit: 5, event: 'paged', ...from } });
      await happens('paged');
      return page;
    });
    expect(pages.map((page) => page.length)).toEqual([5, 5, 1]);
    expect(pages.flat().map(({ id }) => id)).toEqual(paged);
  });

  // AUDIT-6
  test('keeps the ref of a deleted account without its name', async () => {
    const gone = await library.join('gone', 'viewer');
    await root.ok('updateUser', { params: { ref: gone.ref }, body: { bio: 'soon gone' } });
    await db.deleteFrom('users').where('ref', '=', gone.ref).execute();
    const [event] = await everything(root, { subject: gone.ref });
    expect(event).toMatchObject({ event: 'user.updated', subject_user_ref: gone.ref });
    expect(event).not.toHaveProperty('subject');
  });

  // AUDIT-3
  test('filters by actor, including what they did while impersonating', async () => {
    const [admin, target] = [await library.join('acting', 'admin'), await library.join('acted', 'viewer')];
    const mask = await actAs(library, admin, target);
    await mask.ok('updateUser', { params: { ref: target.ref }, body: { bio: 'x' } });
    await mask.ok('endImpersonation');
    await target.ok('updateUser', { params: { ref: target.ref }, body: { bio: 'y' } });
    const names = async (filters: Filters) => (await everything(root, filters)).map(({ event }) => event);
    const [began, ended] = ['admin.impersonation.started', 'admin.impersonation.ended'];
    expect(await names({ actor: admin.ref })).toEqual([ended, 'user.updated', began]);
    expect(await names({ actor: target.ref })).toEqual(['user.updated', 'user.updated']);
    expect(await names({ subject: admin.ref })).toEqual([]);
    expect(await names({ subject: target.ref })).toHaveLength(4);
    expect(await names({ subject: target.ref, actor: admin.ref, event: 'user.*' })).toEqual(['user.updated']);
    expect(await names({ subject: target.ref, actor: root.ref })).toEqual([]);
    expect(await names({ actor: 404_000 })).toEqual([]);
  });

  // AUDIT-3
  test('filters by event, with a `*` allowed only at the end', async () => {
    for (const event of ['odd.a_b', 'odd.axb', 'odd.a%b', 'odd.a\\b', 'odd.*.c', 'ODD.upper'])
      await happens(event);
    const matching = {
      'odd.axb': ['odd.axb'],
      'odd.ax': [],
      'odd.ax*': ['odd.axb'],
      'odd.a*': ['odd.a%b', 'odd.a\\b', 'odd.a_b', 'odd.axb'],
      'odd.a_b': ['odd.a_b'],
      'odd.a_*': ['odd.a_b'],
      'odd.a%*': ['odd.a%b'],
      'odd.a%': [],
      'odd.a\\*': ['odd.a\\b'],
      'odd.*.c': ['odd.*.c'],
      'odd.**': ['odd.*.c'],
      '*xb': [],
      '%*': [],
      "' or true --": [],
    };
    for (const [event, names] of Object.entries(matching)) {
      const found = (await everything(root, { event })).map((one) => one.event);
      expect([event, found.sort()]).toEqual([event, names.sort()]);
    }
    expect((await everything(root, { event: '*' })).length).toBe((await everything(root)).length);
  });
});

// USER-8
test('personal data in an event is shown with users.pii.read alone, in the list and in the export', async () => {
  const mara = await library.join('Mara');
  const body = { fullname: 'Mara Lind', email: 'mara@example.org' };
  await mara.ok('updateUser', { params: { ref: mara.ref }, body });
  const browser = visit(library.address, { 'user-agent': 'Browser of Mara' });
  await browser.ok('login', { body: { username: 'mara', password } });
  const filters = { subject: mara.ref, event: 'auth.signed_in' };
  for (const reader of [trusted, root]) {
    const [event] = await everything(reader, filters);
    expect(event).toMatchObject({
      metadata: { address: '127.0.0.1', user_agent: 'Browser of Mara', provider: 'password' },
      subject: { display_name: 'Mara Lind' },
    });
  }
  const [event] = await everything(auditor, filters);
  expect(event?.metadata).toEqual({ provider: 'password', two_factor: false });
  expect(event?.subject?.display_name).toBe('Mara');
  const query = `?subject=${mara.ref}&event=auth.signed_in`;
  const [row] = await exportOf(auditor, query);
  expect(JSON.parse(row?.metadata ?? '')).toEqual(event?.metadata);
  expect(JSON.parse((await exportOf(trusted, query))[0]?.metadata ?? '')).toHaveProperty('address');
  for (const path of ['/admin/audit', '/admin/audit/export']) {
    const { text } = await auditor.send(path);
    for (const secret of ['Browser of Mara', 'Mara Lind', 'mara@example.org', '127.0.0.1'])
      expect(text).not.toContain(secret);
  }
});

describe('GET /admin/audit/export', () => {
  async function expectSameAsList(caller: Visitor, filters: Filters) {
    const query = new URLSearchParams(Object.entries(filters).map(([name, value]) => [name, String(value)]));
    const rows = await exportOf(caller, `?${query}`);
    const items = await everything(caller, filters);
    const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));
    expect(rows.map(({ metadata, ...row }) => ({ ...row, metadata: JSON.parse(metadata ?? '') }))).toEqual(
      items.map((item) => ({
        occurred_at: item.occurred_at,
        event: item.event,
        actor_user_ref: text(item.actor_user_ref),
        actor: text(item.actor?.username),
        subject_user_ref: text(item.subject_user_ref),
        subject: text(item.subject?.username),
        target_kind: text(item.target_kind),
        target_id: text(item.target_id),
        metadata: item.metadata,
      })),
    );
    return rows.length;
  }

  test('stops reading the log when the client disconnects, without an error', {
    tags: ['one-process'],
  }, async () => {
    // A separate library, because events are never deleted.
    const large = await openLibrary();
    const chief = await large.join('chief', 'admin');
    await sql`insert into audit_events (event, metadata)
      select 'many.events', jsonb_build_object('text', repeat('x', 500)) from generate_series(1, 40000)`.execute(
      large.deps.db,
    );
    const faults = vi.spyOn(large.deps.log, 'error');
    const [, statements] = await watchStatements(large, async () => {
      const headers = { cookie: `user=${chief.cookie()}` };
      const response = await fetch(`${large.address}/api/v1/admin/audit/export`, { headers });
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
      const { pool } = large.database;
      await expect.poll(() => pool.idleCount).toBe(pool.totalCount);
    });
    // The whole log has 200 pages.
    const pages = statements.filter(({ text }) => text.includes('from audit_events'));
    expect(pages.length).toBeGreaterThan(0);
    expect(pages.length).toBeLessThan(100);
    expect(faults).not.toHaveBeenCalled();
  });

  // AUDIT-5
  test('is a CSV file with a header and the same content as the list', async () => {
    const odd = await library.join('comma, "quote" ünï', 'viewer');
    await root.ok('updateUser', { params: { ref: odd.ref }, body: { bio: 'x' } });
    const answer = await root.send('/admin/audit/export');
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.text.split('\n')[0]).toBe(
      'occurred_at,event,actor_user_ref,actor,subject_user_ref,subject,target_kind,target_id,metadata',
    );
    const events = [{ event: 'user.*' }, { event: 'none' }];
    for (const filters of [{}, { actor: root.ref }, { subject: odd.ref }, ...events])
      await expectSameAsList(root, filters);
    expect(await expectSameAsList(root, { subject: odd.ref, event: 'user.updated' })).toBe(1);
    await expectSameAsList(auditor, {});
  });

  test('contains a log of any length', async () => {
    await sql`insert into audit_events (event, subject_user_ref, metadata, occurred_at)
      select 'many', ${root.ref}, json_build_object('number', i), now() - (i / 7) * interval '1 millisecond'
      from generate_series(1, 450) i`.execute(db);
    expect(await expectSameAsList(root, { event: 'many' })).toBe(450);
  });

  // AUDIT-5
  test('has no cell that a spreadsheet would execute', async () => {
    for (const name of ['=1+1', '+1', '-1', '@sum(a1)']) {
      const account = await library.join(name, 'viewer');
      await account.ok('updateUser', { params: { ref: account.ref }, body: { bio: 'x' } });
      await happens(`${name}.event`, account);
      const rows = await exportOf(root, `?subject=${account.ref}`);
      expect(rows.map((row) => [row.event, row.subject])).toEqual([
        [`'${name}.event`, `'${name}`],
        ['user.updated', `'${name}`],
      ]);
    }
    const cells = (await exportOf(root)).flatMap((row) => Object.values(row));
    expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
  });
});

// AUDIT-4
test('the table refuses every change, in the transaction of the retention too', async () => {
  await happens('kept');
  const all = async () => (await sql`select * from audit_events order by id`.execute(db)).rows;
  const before = await all();
  const attempts = [sql`update audit_events set event = 'x'`, sql`truncate audit_events cascade`];
  for (const attempt of [...attempts, sql`delete from audit_events where event = 'kept'`])
    await expect(attempt.execute(db)).rejects.toThrow('audit events are never changed');
  for (const attempt of attempts) {
    const outcome = db.transaction().execute(async (tx) => {
      await sql`select set_config('vitrine.audit_retention', 'on', true)`.execute(tx);
      await attempt.execute(tx);
    });
    await expect(outcome).rejects.toThrow('audit events are never changed');
  }
  expect(await all()).toEqual(before);
});

describe('events are kept', () => {
  const keep = (retention_days: number | null) => root.ok('setAuditRetention', { body: { retention_days } });
  const remaining = async () =>
    (await everything(root, { event: 'aged.*' })).map(({ event }) => event).sort();

  beforeEach(async () => {
    await sql`insert into audit_events (event, occurred_at) values ('aged.ancient', now() - interval '20 years'),
      ('aged.old', now() - interval '25 hours'), ('aged.young', now() - interval '23 hours')`.execute(db);
  });

  // AUDIT-4
  test('forever by default, and for the configured number of days', async () => {
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
    await keep(1);
    await db.transaction().execute((tx) => enqueue(tx, 'retain-audit', {}, { key: 'retain-audit' }));
    await library.runJobs();
    expect(await remaining()).not.toContain('aged.ancient');
    const again = await Promise.allSettled(
      Array.from({ length: 8 }, () => sql`delete from audit_events`.execute(db)),
    );
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set(['rejected']));
  });

  test('the setting is returned as set', async () => {
    for (const retention_days of [1, 36_500, null, 90]) {
      expect(await keep(retention_days)).toEqual({ retention_days });
      expect(await root.ok('getAuditRetention')).toEqual({ retention_days });
    }
  });
});

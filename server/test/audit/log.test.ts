import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordEvent } from '../../src/audit/record.ts';
import { newAccessToken } from '../../src/identity/access-tokens.ts';
import { hashToken } from '../../src/identity/sessions.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';
import { grant } from '../support/people.ts';

let library: Library;
let root: Account;
/** An account with `system.audit.read` and without `users.pii.read`. */
let auditor: Account;
/** An account with both. */
let trusted: Account;

/** Records an event of this name on behalf of the server. */
async function happens(event: string, subject?: Account): Promise<void> {
  const about = subject === undefined ? {} : { subjectUserRef: subject.ref };
  await library.deps.db.transaction().execute((tx) => recordEvent(tx, null, { event, ...about }));
}

/** Returns the events that a caller sees, from all pages. */
async function everything(
  caller: Visitor,
  filters: { actor?: number; subject?: number; event?: string } = {},
) {
  const items: Awaited<ReturnType<typeof firstPage>>['items'] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof firstPage>> = await firstPage(caller, filters, cursor);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}

function firstPage(
  caller: Visitor,
  filters: { actor?: number; subject?: number; event?: string },
  cursor: string | null,
) {
  return caller.ok('listAudit', {
    query: { limit: 200, ...filters, ...(cursor === null ? {} : { cursor }) },
  });
}

async function exportOf(caller: Visitor, query = ''): Promise<Record<string, string>[]> {
  const answer = await caller.send(`/admin/audit/export${query}`);
  expect(answer.status, answer.text).toBe(200);
  return parse<Record<string, string>>(answer.text, { columns: true });
}

beforeAll(async () => {
  library = await openLibrary();
  [root, auditor, trusted] = await Promise.all([
    library.join('root', 'admin'),
    library.join('auditor', 'viewer'),
    library.join('trusted', 'viewer'),
  ]);
  await grant(library, auditor, 'system.audit.read');
  await grant(library, trusted, ['system.audit.read', 'users.pii.read']);
});

describe('GET /admin/audit', () => {
  test('returns event, actor, subject and time', async () => {
    const subject = await library.join('subject', 'viewer');
    const before = Date.now();
    await root.ok('setUserStatus', {
      params: { ref: subject.ref },
      body: { status: 'disabled', reason: 'left' },
    });
    const [event] = (await root.ok('listAudit')).items;
    expect(event).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event: 'user.status.changed',
      actor_user_ref: root.ref,
      actor: { ref: root.ref, username: 'root', display_name: 'root', avatar_url: null },
      subject_user_ref: subject.ref,
      subject: { ref: subject.ref, username: 'subject', display_name: 'subject', avatar_url: null },
      metadata: { status: 'disabled', reason: 'left' },
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    });
    expect(Math.abs(Date.parse(event?.occurred_at ?? '') - before)).toBeLessThan(10_000);
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
    const [session] = (await phone.ok('listSessions')).items;
    await root.ok('endUserSession', { params: { ref: phone.ref, id: session?.id ?? '' } });
    const [ended] = await everything(root, { event: 'auth.session.ended' });
    expect(ended).toMatchObject({ target_kind: 'session', target_id: session?.id });
  });

  // AUDIT-3
  test('is newest first, in a stable order for events of one instant', async () => {
    const { db } = library.deps;
    await sql`insert into audit_events (event, occurred_at)
      select 'order.test', '2026-01-01T00:00:00Z'::timestamptz + (i / 3) * interval '1 second'
      from generate_series(1, 9) i`.execute(db);
    const items = await everything(root);
    const keys = items.map(({ occurred_at, id }) => `${new Date(occurred_at).toISOString()} ${id}`);
    expect(keys).toEqual(keys.toSorted().reverse());
    expect(items.filter(({ event }) => event === 'order.test')).toHaveLength(9);
  });

  // AUDIT-6
  test('keeps the ref of a deleted account without its name', async () => {
    const gone = await library.join('gone', 'viewer');
    await root.ok('updateUser', { params: { ref: gone.ref }, body: { bio: 'soon gone' } });
    await library.deps.db.deleteFrom('users').where('ref', '=', gone.ref).execute();
    const [event] = await everything(root, { subject: gone.ref });
    expect(event).toMatchObject({ event: 'user.updated', subject_user_ref: gone.ref });
    expect(event).not.toHaveProperty('subject');
  });

  // AUDIT-3
  test('filters by actor, including what they did while impersonating', async () => {
    const [admin, target] = [await library.join('acting', 'admin'), await library.join('acted', 'viewer')];
    const mask = visit(library.address, {}, admin.cookie());
    await mask.ok('impersonate', { params: { ref: target.ref }, body: undefined });
    await mask.ok('updateUser', { params: { ref: target.ref }, body: { bio: 'x' } });
    await mask.ok('endImpersonation');
    await target.ok('updateUser', { params: { ref: target.ref }, body: { bio: 'y' } });
    const names = async (filters: { actor?: number; subject?: number; event?: string }) =>
      (await everything(root, filters)).map(({ event }) => event);
    expect(await names({ actor: admin.ref })).toEqual([
      'admin.impersonation.ended',
      'user.updated',
      'admin.impersonation.started',
    ]);
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
    const found = async (event: string) => (await everything(root, { event })).map((one) => one.event).sort();
    expect(await found('odd.axb')).toEqual(['odd.axb']);
    expect(await found('odd.ax')).toEqual([]);
    expect(await found('odd.ax*')).toEqual(['odd.axb']);
    expect(await found('odd.a*')).toEqual(['odd.a%b', 'odd.a\\b', 'odd.a_b', 'odd.axb'].sort());
    expect(await found('odd.a_b')).toEqual(['odd.a_b']);
    expect(await found('odd.a_*')).toEqual(['odd.a_b']);
    expect(await found('odd.a%*')).toEqual(['odd.a%b']);
    expect(await found('odd.a%')).toEqual([]);
    expect(await found('odd.a\\*')).toEqual(['odd.a\\b']);
    expect(await found('odd.*.c')).toEqual(['odd.*.c']);
    expect(await found('odd.**')).toEqual(['odd.*.c']);
    expect(await found('*xb')).toEqual([]);
    expect(await found('%*')).toEqual([]);
    expect(await found("' or true --")).toEqual([]);
    expect((await found('*')).length).toBe((await everything(root)).length);
  });

  test('pages without gaps or duplicates while events arrive', async () => {
    await sql`insert into audit_events (event, occurred_at)
      select 'paged', now() - (i / 4) * interval '1 millisecond' from generate_series(1, 57) i`.execute(
      library.deps.db,
    );
    const expected = (await everything(root, { event: 'paged' })).map(({ id }) => id);
    expect(expected).toHaveLength(57);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: { limit: number; event: string; cursor?: string } = { limit: 10, event: 'paged' };
      if (cursor !== null) query.cursor = cursor;
      const page = await root.ok('listAudit', { query });
      expect(page.items.length).toBeLessThanOrEqual(10);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
      await happens('paged');
    } while (cursor !== null);
    expect(seen).toEqual(expected);
  });
});

describe('personal data in an event', () => {
  // USER-8
  test('is shown with users.pii.read alone, in the list and in the export', async () => {
    const mara = await library.join('Mara');
    await library.deps.db
      .updateTable('users')
      .set({ fullname: 'Mara Lind', email: 'mara@example.org' })
      .where('ref', '=', mara.ref)
      .execute();
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
});

describe('who may read it', () => {
  const paths = ['/admin/audit', '/admin/audit/export', '/admin/audit?actor=x'];

  test.each([false, true])('signed out: 401 (public mode %j)', async (publicMode) => {
    await library.setPublicMode(publicMode);
    for (const path of paths) expect((await library.anonymous().send(path)).status).toBe(401);
    await library.setPublicMode(false);
  });

  // AUDIT-3
  test('without system.audit.read: 403', async () => {
    const [stranger, holder] = [
      await library.join('stranger', 'member'),
      await library.join('holder', 'member'),
    ];
    await grant(library, holder, [
      'users.read',
      'users.pii.read',
      'users.write',
      'posts.admin',
      'system.config.read',
    ]);
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: stranger.ref }, body: undefined });
    const before = (await everything(root)).length;
    for (const caller of [stranger, holder, mask])
      for (const path of paths) {
        const answer = await caller.send(path);
        expect([answer.status, JSON.parse(answer.text).error]).toEqual([
          403,
          'missing capability system.audit.read',
        ]);
      }
    expect((await everything(root)).length).toBe(before);
  });

  test('with a token of the scope read, or while impersonating an auditor', async () => {
    const bearer = async (scopes: string[]) => {
      const token = newAccessToken();
      const row = {
        user_ref: auditor.ref,
        name: 'test',
        token_hash: hashToken(token),
        scopes,
        expires_at: null,
      };
      await library.deps.db.insertInto('access_tokens').values(row).execute();
      return visit(library.address, { authorization: `Bearer ${token}` });
    };
    const reading = await bearer(['read']);
    await reading.ok('listAudit');
    expect((await reading.send('/admin/audit/export')).status).toBe(200);
    const [event] = await everything(root, { event: 'audit.exported' });
    expect(event).toMatchObject({ actor_user_ref: auditor.ref, metadata: { token_id: expect.any(String) } });
    for (const path of paths) expect((await (await bearer(['posts.write'])).send(path)).status).toBe(403);
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: auditor.ref }, body: undefined });
    expect((await mask.send('/admin/audit')).text).toBe((await auditor.send('/admin/audit')).text);
  });
});

describe('GET /admin/audit/export', () => {
  const columns = [
    'occurred_at',
    'event',
    'actor_user_ref',
    'actor',
    'subject_user_ref',
    'subject',
    'target_kind',
    'target_id',
    'metadata',
  ];

  async function expectSameAsList(
    caller: Visitor,
    filters: { actor?: number; subject?: number; event?: string },
  ) {
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

  // AUDIT-5
  test('is a CSV file with a header and the same content as the list', async () => {
    const odd = await library.join('comma, "quote" ünï', 'viewer');
    await root.ok('updateUser', { params: { ref: odd.ref }, body: { bio: 'x' } });
    const answer = await root.send('/admin/audit/export');
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.text.split('\n')[0]).toBe(columns.join(','));
    for (const filters of [
      {},
      { actor: root.ref },
      { subject: odd.ref },
      { event: 'user.*' },
      { event: 'none' },
    ])
      await expectSameAsList(root, filters);
    expect(await expectSameAsList(root, { subject: odd.ref, event: 'user.updated' })).toBe(1);
    await expectSameAsList(auditor, {});
  });

  test('contains a log of any length', async () => {
    await sql`insert into audit_events (event, subject_user_ref, metadata, occurred_at)
      select 'many', ${root.ref}, json_build_object('number', i), now() - (i / 7) * interval '1 millisecond'
      from generate_series(1, 1500) i`.execute(library.deps.db);
    expect(await expectSameAsList(root, { event: 'many' })).toBe(1500);
    const numbers = (await exportOf(auditor, '?event=many')).map(
      (row) => JSON.parse(row.metadata ?? '').number,
    );
    expect(new Set(numbers).size).toBe(1500);
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

  // AUDIT-5
  test('is an event itself, with its filters', async () => {
    const before = (await everything(root, { event: 'audit.exported' })).length;
    const rows = await exportOf(trusted, `?event=user.*&subject=${root.ref}`);
    expect(rows).toEqual([]);
    const exports = await everything(root, { event: 'audit.exported' });
    expect(exports.length).toBe(before + 1);
    expect(exports[0]).toMatchObject({
      actor_user_ref: trusted.ref,
      metadata: { event: 'user.*', subject: root.ref },
    });
    expect((await exportOf(root))[0]).toMatchObject({ event: 'audit.exported', actor: 'root' });
  });
});

// AUDIT-4
describe('the table', () => {
  const attempts = [
    ['an update', sql`update audit_events set event = 'nothing happened'`],
    ['an update of one row', sql`update audit_events set actor_user_ref = 1 where event = 'kept'`],
    ['a delete', sql`delete from audit_events`],
    ['a delete of one row', sql`delete from audit_events where event = 'kept'`],
    ['a truncate', sql`truncate audit_events`],
    ['a truncate with all that follows', sql`truncate audit_events cascade`],
  ] as const;

  // AUDIT-4
  test.each(attempts)('refuses %s', async (_, attempt) => {
    await happens('kept');
    const all = () => sql`select * from audit_events order by id`.execute(library.deps.db);
    const { rows } = await all();
    await expect(attempt.execute(library.deps.db)).rejects.toThrow('audit events are never changed');
    expect((await all()).rows).toEqual(rows);
  });

  test('refuses an update and a truncate in the transaction of the retention', async () => {
    await happens('kept');
    for (const attempt of [sql`update audit_events set event = 'x'`, sql`truncate audit_events`]) {
      const outcome = library.deps.db.transaction().execute(async (tx) => {
        await sql`select set_config('vitrine.audit_retention', 'on', true)`.execute(tx);
        await attempt.execute(tx);
      });
      await expect(outcome).rejects.toThrow('audit events are never changed');
    }
  });
});

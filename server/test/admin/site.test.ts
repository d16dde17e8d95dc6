import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CallerOutcome, callersBefore, outcomeOf } from '../appearance/callers.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

let library: Library;
let root: Account;
let readers: CallerOutcome[];
let writers: CallerOutcome[];

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  readers = await callersBefore(library, 'system.config.read');
  writers = await callersBefore(library, 'system.config.write');
});

const fresh = { site_name: 'Vitrine', base_url: null, default_sensitivity: 'posts', indexing: true };

const forget = ({ deps: { db } }: Library) =>
  db.deleteFrom('settings').where('key', 'in', ['site_name', 'base_url']).execute();

beforeEach(() => forget(library));

const change = (body: unknown) => root.send('/admin/system/site', { method: 'PATCH', body });
const site = () => root.ok('getSite');

function errorOf(text: string): string {
  const body: { error: string } = JSON.parse(text);
  return body.error;
}

async function events() {
  return library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref', 'metadata'])
    .orderBy('occurred_at')
    .execute();
}

// ADMIN-1
describe.each([false, true])('with public mode on: %s', (publicMode) => {
  beforeAll(() => library.setPublicMode(publicMode));

  // ADMIN-1
  test('GET /admin/system/site needs system.config.read', async () => {
    for (const { who, visitor, reading } of readers) {
      expect([who, await outcomeOf(visitor.ok('getSite'))]).toEqual([who, reading]);
    }
  });

  // ADMIN-1
  test('PATCH needs system.config.write', async () => {
    const act = (name: string) => ({ body: { site_name: name, base_url: 'https://pictures.example' } });
    for (const { who, visitor, writing } of writers.filter((one) => one.writing !== 'let in')) {
      expect([who, await outcomeOf(visitor.ok('updateSite', act('Taken over')))]).toEqual([who, writing]);
    }
    expect(await site()).toEqual(fresh);
    for (const { who, visitor } of writers.filter((one) => one.writing === 'let in')) {
      expect(await visitor.ok('updateSite', act(who))).toEqual({
        ...fresh,
        site_name: who,
        base_url: 'https://pictures.example',
      });
    }
  });
});

// ADMIN-1
describe('the site’s name', () => {
  test('is the product’s name by default', async () => {
    expect(await site()).toEqual(fresh);
  });

  test('is trimmed and shown to everyone immediately', async () => {
    const answer = await root.ok('updateSite', { body: { site_name: '  Glass house\t' } });
    expect(answer).toEqual({ ...fresh, site_name: 'Glass house', base_url: null });
    expect(await site()).toEqual(answer);
    expect((await library.anonymous().ok('getAppearance')).site_name).toBe('Glass house');
  });

  test('is unchanged when absent or null', async () => {
    await root.ok('updateSite', { body: { site_name: 'Glass house' } });
    for (const body of [{}, { site_name: null }, { base_url: null }, { clear_base_url: false }]) {
      expect(await root.ok('updateSite', { body })).toEqual({
        ...fresh,
        site_name: 'Glass house',
        base_url: null,
      });
    }
  });

  test.each(['x', 'x'.repeat(200), 'Bücher & <b>Bilder</b>', '写真館', 'null'])('may be %s', async (name) => {
    expect((await root.ok('updateSite', { body: { site_name: name } })).site_name).toBe(name);
    expect((await library.anonymous().ok('getAppearance')).site_name).toBe(name);
  });

  test.each([' ', '\t\n'])('may not be %j: 400, and nothing changes', async (name) => {
    const answer = await change({ site_name: name, base_url: 'https://pictures.example' });
    expect(answer.status).toBe(400);
    expect(errorOf(answer.text)).toMatch(/\S/);
    expect(await site()).toEqual(fresh);
  });
});

describe('the public address', () => {
  test.each([
    ['https://pictures.example', 'https://pictures.example'],
    ['http://localhost:8420', 'http://localhost:8420'],
    ['https://example.org/library', 'https://example.org/library'],
    ['https://example.org/library/', 'https://example.org/library'],
    ['https://example.org//', 'https://example.org'],
    ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ])('%s is kept as %s', async (given, kept) => {
    expect(await root.ok('updateSite', { body: { base_url: given } })).toEqual({ ...fresh, base_url: kept });
    expect((await site()).base_url).toBe(kept);
  });

  test.each([
    '',
    '/',
    'pictures.example',
    '//pictures.example',
    'ftp://pictures.example',
    'https://mara:secret@pictures.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'https:',
    'https://',
    'https:///library',
    'https://?q',
    'https://two words.example',
    ' https://pictures.example',
    'https://pictures.example\n',
    'https://pictures.example/?q=1',
    'https://pictures.example/#top',
    'https://pictures.example:99999',
    'https://[2001:db8::1',
    'https://%',
    'https://user:secret@pictures.example',
    `https://${'x'.repeat(500)}.example`,
    5,
    true,
    [],
    {},
  ])('%j is none: 400, and nothing changes', async (address) => {
    await root.ok('updateSite', { body: { base_url: 'https://before.example' } });
    const answer = await change({ site_name: 'Taken over', base_url: address });
    expect(answer.status).toBe(400);
    expect(errorOf(answer.text)).toMatch(/base_url/);
    expect(await site()).toEqual({ ...fresh, base_url: 'https://before.example' });
  });

  test('is unchanged when absent or null', async () => {
    await root.ok('updateSite', { body: { base_url: 'https://pictures.example' } });
    for (const body of [{}, { base_url: null }, { site_name: 'Glass house' }, { clear_base_url: false }]) {
      expect((await root.ok('updateSite', { body })).base_url).toBe('https://pictures.example');
    }
  });

  test('is removed by clear_base_url, idempotently', async () => {
    for (const body of [{ clear_base_url: true }, { clear_base_url: true, base_url: null }]) {
      await root.ok('updateSite', { body: { base_url: 'https://pictures.example' } });
      expect((await root.ok('updateSite', { body })).base_url).toBeNull();
      expect((await root.ok('updateSite', { body })).base_url).toBeNull();
      expect(await site()).toEqual(fresh);
    }
  });

  test('is 400 together with clear_base_url', async () => {
    await root.ok('updateSite', { body: { base_url: 'https://pictures.example' } });
    const body = { site_name: 'Taken over', base_url: 'https://other.example', clear_base_url: true };
    const refused = await root.refused('updateSite', { body });
    expect(refused).toEqual({ status: 400, error: 'clear_base_url and base_url are mutually exclusive' });
    expect(await site()).toEqual({ ...fresh, base_url: 'https://pictures.example' });
  });

  test.each(['true', 1, []])('clear_base_url = %j is 400', async (value) => {
    expect((await change({ clear_base_url: value })).status).toBe(400);
  });
});

describe('PATCH /admin/system/site', () => {
  test.each([{ name: 'x' }, { clear_site_name: true }, { public_mode_enabled: true }, { fonts: {} }])(
    '%j is 400 that names it, and nothing changes',
    async (body) => {
      const answer = await change({ site_name: 'Taken over', ...body });
      expect([answer.status, errorOf(answer.text)]).toEqual([
        400,
        `unknown property ${Object.keys(body)[0]}`,
      ]);
      expect(await site()).toEqual(fresh);
    },
  );

  test.each([undefined, 'null', '[]', '"text"', '5'])('a body of %s is 400', async (body) => {
    expect((await change(body)).status).toBe(400);
  });

  // ADMIN-10
  test('keeps two concurrent changes of different properties', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [site_name, base_url] = [`Round ${round}`, `https://round-${round}.example`];
      await Promise.all([
        root.ok('updateSite', { body: { site_name } }),
        root.ok('updateSite', { body: { base_url } }),
      ]);
      expect(await site()).toEqual({ ...fresh, site_name, base_url });
    }
  });

  test('is audited with its values', async () => {
    const before = (await events()).length;
    const given = { site_name: 'Glass house', base_url: 'https://pictures.example' };
    const metadata = { ...given, default_sensitivity: null, indexing: null };
    await root.ok('updateSite', { body: given });
    await root.refused('updateSite', { body: { base_url: 'http://%' } });
    expect((await events()).slice(before)).toEqual([
      { event: 'system.site.changed', actor_user_ref: root.ref, metadata },
    ]);
  });
});

describe('an address that the environment sets', () => {
  let fixed: Library;
  let chief: Account;
  const environment = 'https://environment.example';

  beforeAll(async () => {
    fixed = await openLibrary({ VITRINE_BASE_URL: `${environment}/` });
    chief = await fixed.join('chief', 'admin');
  });

  test('is shown', async () => {
    expect(await chief.ok('getSite')).toEqual({ ...fresh, base_url: environment });
  });

  // SETTING-9
  test('takes precedence over a stored one', async () => {
    const stored = { base_url: 'https://stored.example', site_name: 'Glass house' };
    const shown = { ...fresh, site_name: 'Glass house', base_url: environment };
    expect(await chief.ok('updateSite', { body: stored })).toEqual(shown);
    expect(await chief.ok('getSite')).toEqual(shown);
    expect(await chief.ok('updateSite', { body: { clear_base_url: true } })).toEqual(shown);
  });

  test('does not prevent validation of a new one', async () => {
    expect((await chief.refused('updateSite', { body: { base_url: 'http://%' } })).status).toBe(400);
  });
});

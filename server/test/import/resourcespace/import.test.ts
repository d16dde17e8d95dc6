import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeHTML } from 'entities';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openLibrary } from '../../support/library.ts';
import { anotherSession, signIn } from '../../support/people.ts';
import { optionsFor, runImport, unpackHarbour } from './harbour.ts';

const harbour = await unpackHarbour();
const { expected } = harbour;
const library = await openLibrary();
const boss = await library.join('boss', 'admin');
const reportPath = join(harbour.directory, 'report.json');
const first = await runImport(library, [...optionsFor(harbour), '--report', reportPath]);
const report = JSON.parse(await readFile(reportPath, 'utf8'));

const { db } = library.deps;
const rows = await db.selectFrom('imported_ids').select(['kind', 'old_id', 'target']).execute();
const targets = new Map(rows.map(({ kind, old_id, target }) => [`${kind} ${old_id}`, target]));

/** What an old thing has become. */
function targetOf(kind: string, id: number | string): string {
  const target = targets.get(`${kind} ${id}`);
  if (target === undefined) throw new Error(`${kind} ${id} was not imported`);
  return target;
}

const fields = new Map(
  (await boss.ok('listFields', { query: { limit: 200, status: 'any' } })).items.map((field) => [
    field.id,
    field,
  ]),
);
const own = (code: string) => targetOf('field', code);

async function readValues(assetId: string) {
  const { items } = await boss.ok('listAssetFieldValues', { params: { id: assetId } });
  return new Map(items.map((value) => [value.field_id, value]));
}

const valuesByAsset = new Map<string, ReturnType<typeof readValues>>();

/** The values of an asset as the administrator is shown them, by the ids of fields; read once. */
function valuesOf(assetId: string) {
  const values = valuesByAsset.get(assetId) ?? readValues(assetId);
  valuesByAsset.set(assetId, values);
  return values;
}

const labels = new Map<string, Map<string, string>>();

async function labelOf(fieldId: string, term: string): Promise<string> {
  let known = labels.get(fieldId);
  if (known === undefined) {
    const { rows: terms } = await sql<{ value: string; label: string }>`
      select value, label from field_terms where field_id = ${fieldId}`.execute(db);
    known = new Map(terms.map(({ value, label }) => [value, label]));
    labels.set(fieldId, known);
  }
  return known.get(term) ?? `no term ${term}`;
}

const plainText = (html: string) =>
  decodeHTML(html.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A value in the form of ResourceSpace. */
async function shown(fieldId: string, value: Record<string, unknown>): Promise<string[]> {
  const type = fields.get(fieldId)?.type;
  if (Array.isArray(value.value_options))
    return Promise.all(value.value_options.map((term: string) => labelOf(fieldId, term)));
  if (typeof value.value_num === 'number') return [String(value.value_num)];
  if (typeof value.value_date === 'string') {
    const moment = value.value_date.replace('T', ' ').replace(/(\.\d+)?Z$/, '');
    return [type === 'date' ? moment.slice(0, 10) : moment.replace(/:00$/, '')];
  }
  const text = String(value.value_text);
  if (type === 'select' || type === 'tree') return [await labelOf(fieldId, text)];
  return [type === 'rich_text' ? plainText(text) : text];
}

function wanted(field: { type: number; values: string[]; raw: string[]; paths?: string[][] }): string[] {
  if (field.paths !== undefined) return field.paths.map((path) => path.join('/'));
  if (field.type === 14) return [field.raw.toSorted().join('/')];
  if (field.type === 8) return field.values.map(plainText);
  return field.values;
}

describe('an import', () => {
  const missingLabels: string[] = [];

  // IMPORT-1
  test('brings every value of every resource', async () => {
    const missing: unknown[] = [];
    for (const resource of expected.resources) {
      const id = targetOf('resource', resource.ref);
      const asset = await boss.ok('getAsset', { params: { id } });
      if (asset.restricted) throw new Error('withheld from an administrator');
      if (asset.title !== (resource.title_label ?? '').slice(0, 500))
        missing.push([resource.ref, asset.title, resource.title_label]);
      expect(asset.created_at.slice(0, 19).replace('T', ' ')).toBe(resource.created);
      const values = await valuesOf(id);
      const others = String(values.get(own('other_values'))?.value_text ?? '');
      const listed = `${others}\n${plainText(others)}`;
      for (const field of resource.fields ?? []) {
        if (field.field === 8) continue;
        const fieldId = targetOf('field', field.field);
        const value = values.get(fieldId);
        const found = value === undefined ? [] : await shown(fieldId, value);
        const sought = wanted(field);
        const isSame = JSON.stringify(found.toSorted()) === JSON.stringify(sought.toSorted());
        const isListed = sought.every((text) => text === '' || listed.includes(text));
        if (!isSame && !isListed) missing.push([resource.ref, field.name, found, sought]);
      }
    }
    expect(missing).toEqual([]);
  });

  test('brings the bytes of files and of alternative files', async () => {
    for (const resource of expected.resources) {
      const asset = await boss.ok('getAsset', { params: { id: targetOf('resource', resource.ref) } });
      if (asset.restricted) throw new Error('withheld');
      if (resource.file?.sha256 !== undefined && resource.file.missing !== true)
        expect(asset.file_hash, `${resource.ref}`).toBe(resource.file.sha256);
      for (const alternative of resource.alternatives ?? []) {
        if (alternative.sha256 == null) continue;
        const other = await boss.ok('getAsset', { params: { id: targetOf('alternative', alternative.ref) } });
        if (other.restricted) throw new Error('withheld');
        expect(other.file_hash).toBe(alternative.sha256);
        expect(other.title).toBe([asset.title, alternative.label].filter((text) => text !== '').join(' – '));
      }
    }
    const { hashes } = report;
    expect(hashes).toEqual({ compared: 74, equal: 74, different: [] });
  });

  test('brings coordinates, ratings, contributors, relations and the history', async () => {
    for (const resource of expected.resources) {
      const id = targetOf('resource', resource.ref);
      const values = await valuesOf(id);
      if (resource.geo !== null) {
        expect(values.get(own('latitude'))?.value_num).toBeCloseTo(resource.geo.lat, 10);
        expect(values.get(own('longitude'))?.value_num).toBeCloseTo(resource.geo.long, 10);
      }
      if (resource.related.length > 0) {
        const { items } = await boss.ok('listRelatedAssets', { params: { id }, query: { limit: 200 } });
        const related = items.map((asset) => asset.id);
        expect(related).toEqual(
          expect.arrayContaining(resource.related.map((ref) => targetOf('resource', ref))),
        );
      }
      if (resource.contributor !== null)
        expect(values.get(own('contributor'))?.value_text).toBe(resource.contributor);
      const lines = String(values.get(own('history'))?.value_text ?? '')
        .split('\n')
        .filter((line) => line !== '');
      const logged = Object.values<number>(resource.log ?? {}).reduce((sum, n) => sum + n, 0);
      expect([resource.ref, lines.length]).toEqual([resource.ref, logged]);
      const given = (resource.ratings?.per_user ?? []).length;
      if (given > 0) expect(String(values.get(own('ratings'))?.value_text).split('\n')).toHaveLength(given);
    }
  });

  test('leaves the history out of searches, as ResourceSpace does', async () => {
    const { items } = await boss.ok('listFields', { query: { limit: 200 } });
    const isSearched = (name: string) => items.find(({ id }) => id === own(name))?.searchable;
    expect([isSearched('history'), isSearched('contributor')]).toEqual([false, true]);
  });

  test('brings comments with their authors, times and answers, and annotations with their places', async () => {
    for (const resource of expected.resources) {
      const listed = [...(resource.comments ?? []), ...(resource.annotations ?? [])];
      if (listed.length === 0) continue;
      const { items } = await boss.ok('listComments', { params: { id: targetOf('post', resource.ref) } });
      const all = items.flatMap((root) => [root, ...(root.replies ?? [])]);
      expect(all).toHaveLength(listed.length);
      for (const comment of resource.comments ?? []) {
        const found = all.find(({ id }) => id === targetOf('comment', comment.ref));
        expect(found?.body).toBe(comment.hidden === 1 ? '(removed)' : comment.body);
        expect(found?.created_at.slice(0, 19).replace('T', ' ')).toBe(comment.created);
        if (comment.user !== null && comment.fullname === null)
          expect(found?.author?.username).toBe(comment.user);
      }
      for (const annotation of resource.annotations ?? []) {
        const found = all.find(({ id }) => id === targetOf('annotation', annotation.ref));
        expect(found?.annotation?.anchor).toMatchObject({ x: annotation.x, y: annotation.y });
      }
    }
  });

  test('brings collections with their order', async () => {
    for (const collection of expected.collections) {
      const id = targets.get(`collection ${collection.ref}`);
      if (id === undefined) {
        const isOwn = ![0, 3, 4].includes(collection.type) || collection.items.length === 0;
        expect([collection.ref, isOwn]).toEqual([collection.ref, true]);
        continue;
      }
      const shownCollection = await boss.ok('getCollection', { params: { id } });
      expect(shownCollection.name).toContain(collection.label);
      if (collection.smart !== undefined) continue;
      const { items } = await boss.ok('listCollectionItems', { params: { id }, query: { limit: 100 } });
      const order = items.map((item) => item.asset?.id ?? '');
      const sought = collection.order_shown_to_admin.map((ref) => targetOf('resource', ref));
      expect([collection.ref, order]).toEqual([collection.ref, sought]);
    }
  });

  test('gives collections to their owners and shows them to no more people', async () => {
    for (const { ref, type, owner_ref, shared_with_users, shared_with_groups } of expected.collections) {
      const id = targets.get(`collection ${ref}`);
      if (id === undefined) continue;
      const { owner_user_ref, visibility } = await boss.ok('getCollection', { params: { id } });
      const account = targets.get(`user ${owner_ref}`);
      expect([ref, owner_user_ref]).toEqual([ref, account === undefined ? boss.ref : Number(account)]);
      const isPrivate = type === 0 && shared_with_users.length + shared_with_groups.length === 0;
      const isNamed = type === 0 && !isPrivate;
      const allowed = isPrivate ? ['private'] : isNamed ? ['explicit-share'] : ['org-only', 'explicit-share'];
      expect([ref, allowed.includes(visibility)]).toEqual([ref, true]);
    }
  });

  test('brings every value of licences and consents', async () => {
    for (const { ref, licences, consents } of expected.resources) {
      const values = await valuesOf(targetOf('resource', ref));
      for (const [code, refs, records] of [
        ['licences', licences ?? [], expected.licences],
        ['consents', consents ?? [], expected.consents],
      ] as const) {
        const text = String(values.get(own(code))?.value_text ?? '');
        const wanted = records.filter((record) => refs.includes(Number(record.ref)));
        expect([ref, wanted.length]).toEqual([ref, refs.length]);
        for (const record of wanted)
          for (const value of Object.values(record))
            expect([ref, text]).toEqual([ref, expect.stringContaining(value)]);
        if (wanted.length === 0) expect([ref, text]).toEqual([ref, '']);
      }
    }
  });

  test('brings accounts with their names, addresses, languages and expiry, and requests with their states', async () => {
    const { items } = await boss.ok('listUsers', { query: { limit: 200 } });
    for (const user of expected.users) {
      const account = items.find(({ ref }) => String(ref) === targetOf('user', user.ref));
      expect(account).toMatchObject({
        username: user.username,
        fullname: user.fullname,
        email: user.email === '' ? null : user.email,
        language: user.lang ?? '',
        created_at: `${user.created.replace(' ', 'T')}Z`,
        status:
          user.state === 'active' ? 'active' : user.state.startsWith('pending') ? 'pending' : 'disabled',
        expires_at:
          user.account_expires === null || user.state === 'expired'
            ? null
            : `${user.account_expires.replace(' ', 'T')}Z`,
      });
    }
    const requests = (await boss.ok('listAllRequests', { query: { limit: 200 } })).items;
    for (const { ref, resources, status, comments } of expected.requests)
      for (const resource of resources) {
        const asset = targetOf('resource', resource);
        const id = targetOf('request', `${ref}/${asset}`);
        expect(requests.find((request) => request.id === id)).toMatchObject({
          state: ['pending', 'granted', 'denied'][status],
          reason: comments,
          target_id: asset,
        });
      }
  });

  test('brings the labels and the help of fields, and all options', async () => {
    for (const field of expected.fields) {
      const own = fields.get(targets.get(`field ${field.ref}`) ?? '');
      // The title is no field of its own.
      if (own === undefined || field.ref === 8) continue;
      // ResourceSpace has labels of its own for some of its fields.
      expect([field.title, field.label].map(plainText)).toContain(own.label);
      if (field.help_text !== null) expect(own.description).not.toBe('');
      if (!['select', 'multi_select'].includes(own.type)) continue;
      const { rows: terms } = await sql<{ label: string }>`
        select label from field_terms where field_id = ${own.id}`.execute(db);
      const sought = (field.nodes ?? []).map(({ label }) => plainText(label)).filter((label) => label !== '');
      missingLabels.push(
        ...sought.filter((label) => !terms.some((term) => plainText(term.label).endsWith(label))),
      );
    }
    expect(missingLabels).toEqual([]);
  });

  test('signs every account in with its password', async () => {
    for (const user of expected.users) {
      const status = (await signIn(library, user.username, user.test_password)).status;
      expect([user.username, status]).toEqual([user.username, user.state === 'active' ? 200 : 401]);
    }
  });
});

/** Returns an account of the earlier system with a session; that its password signs it in is tested above. */
async function enter(username: string) {
  const users = db.selectFrom('users').select('ref').where('username', '=', username);
  return anotherSession(library, await users.executeTakeFirstOrThrow());
}

// IMPORT-4
describe('access after an import', () => {
  test('is never wider than in ResourceSpace, account by account', async () => {
    const wider: string[] = [];
    const lost: string[] = [];
    for (const { user: username, access } of expected.effective_access) {
      const visitor = await enter(username);
      for (const [at, resource] of expected.resources.entries()) {
        const answer = await visitor.send(`/assets/${targetOf('resource', resource.ref)}`);
        const isFull = answer.status === 200 && JSON.parse(answer.text).restricted === false;
        const before = access[at];
        if (isFull && before !== '0') wider.push(`${username} sees ${resource.ref}`);
        if (answer.status === 200 && before === '2') wider.push(`${username} knows ${resource.ref}`);
        if (!isFull && before === '0') lost.push(`${username} lost ${resource.ref}`);
        for (const alternative of resource.alternatives ?? []) {
          const target = targets.get(`alternative ${alternative.ref}`);
          if (target === undefined) continue;
          const other = await visitor.send(`/assets/${target}`);
          expect([username, alternative.ref, other.status]).toEqual([
            username,
            alternative.ref,
            answer.status,
          ]);
        }
      }
    }
    expect(wider).toEqual([]);
    expect(lost).toEqual([]);
  });

  test('hides fields from those whose group does not read them', async () => {
    const volunteer = await enter('carla');
    const { items } = await volunteer.ok('listAssetFieldValues', { params: { id: targetOf('resource', 1) } });
    const codes = items.map(({ field_id }) => fields.get(field_id)?.code ?? '').toSorted();
    for (const code of codes)
      expect(['country', 'district', 'title', 'description', 'rating', 'latitude', 'longitude']).toContain(
        code,
      );
    const press = await enter("sean.o'brien");
    const seen = await press.ok('listFields', { query: { limit: 200 } });
    expect(seen.items.map(({ code }) => code)).not.toContain('internalnote');
    expect(seen.items.map(({ code }) => code)).toContain('credit');
  });

  test('gives nobody but administrators what ResourceSpace showed to nobody else', async () => {
    for (const username of ['ingrid.berg', 'carla']) {
      const visitor = await enter(username);
      const seen = (await visitor.ok('listFields', { query: { limit: 200 } })).items.map(({ code }) => code);
      for (const code of ['history', 'other_values', 'consents', 'licences', 'legacycode'])
        expect(seen).not.toContain(code);
    }
  });
});

// IMPORT-2
describe('a second import', () => {
  test('changes nothing if nothing has changed', async () => {
    const count = async () =>
      (
        await sql<{
          n: number;
        }>`select (select count(*) from assets) + (select count(*) from users) + (select count(*) from collections)
        + (select count(*) from comments) + (select count(*) from share_links) + (select count(*) from resource_requests)
        + (select count(*) from field_terms) + (select count(*) from teams) + (select count(*) from posts) as n`.execute(
          db,
        )
      ).rows[0]?.n;
    const before = await count();
    const again = await runImport(library, optionsFor(harbour));
    expect(again.code).toBe(3);
    expect(await count()).toBe(before);
    expect(again.out).not.toContain('assets created');
    expect(again.out).not.toContain('assets changed');
  });
});

// IMPORT-7
test('reports what was left out with its reason', () => {
  expect(first.code).toBe(3);
  const kinds = new Map(
    report.left_out.map(({ kind, id, reason }: Record<string, string>) => [`${kind} ${id}`, reason]),
  );
  expect(kinds.get('file 68')).toContain('missing');
  expect(kinds.get('share key 6a5d3b53c8')).toContain('upload');
  expect(kinds.get('comment 9')).toContain('collection');
  expect(kinds.get('text home/welcometext/fr')).toContain('Texts');
  expect(kinds.get('setting email_from')).toContain('setting');
  expect(kinds.get('user 3')).toBe('its preferences: email_and_user_notifications, user_local_timezone');
  expect(report.links).toHaveLength(4);
  for (const { url } of report.links) expect(url).toMatch(/\/s\/[A-Za-z0-9]{32}$/);
  expect(JSON.stringify(report)).not.toMatch(/\$2y\$|\$argon2/);
});

// IMPORT-8
test('redirects the old address of a resource to its asset, for those who may know of it', async () => {
  const locationFor = async (cookie: string | undefined, path: string) => {
    const headers: Record<string, string> = cookie === undefined ? {} : { cookie: `user=${cookie}` };
    const response = await fetch(`${library.address}${path}`, { headers, redirect: 'manual' });
    return response.headers.get('location');
  };
  const press = await enter("sean.o'brien");
  expect(await locationFor(boss.cookie(), '/?r=10')).toBe(`/assets/${targetOf('resource', 10)}`);
  expect(await locationFor(press.cookie(), '/?r=1')).toBe(`/assets/${targetOf('resource', 1)}`);
  const missing = await locationFor(boss.cookie(), '/?r=4711');
  expect(missing).toMatch(/^\/assets\/0000/);
  // Another account may not know of this one.
  expect(await locationFor(press.cookie(), '/?r=12')).toBe(missing);
  for (const path of ['/?r=0', '/?r=x', '/?r=1%27', '/?r=', '/search?r=1'])
    expect(await locationFor(boss.cookie(), path)).toBeNull();
  expect(await locationFor(undefined, '/?r=1')).toBeNull();
});

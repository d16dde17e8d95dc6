import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { keepNameKeys } from '../../src/boot/name-keys.ts';
import { targetKey } from '../../src/exchange/federation/actors.ts';
import { define } from '../fields/define.ts';
import { auditEvents } from '../support/audit.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const { db, log } = library.deps;
const root = await library.join('root', 'admin');
const mara = await library.join('mara');

const composed = 'Jos\u00e9';
const decomposed = 'JOSE\u0301';

// NAME-6
test('saved views and searches have different names in every spelling', async () => {
  for (const [create, update] of [
    ['createFeedView', 'updateFeedView'],
    ['createSearch', 'updateSearch'],
  ] as const) {
    const save = (name: string) => mara.ok(create, { body: { name, query: {} } });
    await save(composed);
    const { id } = await save('Straße');
    for (const name of [decomposed, ' STRASSE '])
      expect((await mara.refused(create, { body: { name, query: {} } })).status).toBe(409);
    expect((await mara.refused(update, { params: { id }, body: { name: decomposed } })).status).toBe(409);
    expect((await mara.ok(update, { params: { id }, body: { name: 'STRASSE' } })).name).toBe('STRASSE');
    await root.ok(create, { body: { name: composed, query: {} } });
  }
});

// NAME-6
test('saved queries that an earlier version allowed to have the same name get a number, and are listed', async () => {
  const names = ['M\u00fcnchen', 'Mu\u0308nchen', 'm\u00dcNCHEN', 'm\u00fcnchen-2'];
  for (const [at, name] of names.entries())
    await sql`insert into saved_searches (id, user_ref, name, query)
      values (${`00000000-0000-4000-8000-00000000000${at}`}, ${root.ref}, ${name}, '{}')`.execute(db);
  await keepNameKeys({ db, log });
  const saved = (await root.ok('listSearches')).map(({ id, name }) => [id.at(-1), name]);
  const renamed = saved.filter(([, name]) => /nchen/i.test(name ?? '')).sort();
  // The first keeps its name; the last one had the name that the second would have got.
  expect(renamed.map(([, name]) => name)).toEqual([
    'M\u00fcnchen',
    'Mu\u0308nchen-2',
    'm\u00dcNCHEN-3',
    'm\u00fcnchen-2-2',
  ]);
  const events = await auditEvents(library, { event: 'saved_search.renamed' });
  expect(events.map(({ subject_user_ref }) => subject_user_ref)).toEqual(Array(3).fill(root.ref));
  expect(JSON.stringify(events)).not.toMatch(/nchen/i);
  const { checks } = await root.ok('getDoctor');
  expect(checks.find(({ code }) => code === 'renamed_names')?.detail).toContain('3 saved views and searches');
  await keepNameKeys({ db, log });
  expect(await auditEvents(library, { event: 'saved_search.renamed' })).toHaveLength(3);
});

// NAME-4, TAG-3
test('a tag is followed once, also before it is used, and shown as it was first used', async () => {
  for (const tag of ['blåbær', 'BLÅBÆR', 'bla\u030abær']) await mara.ok('followTag', { params: { tag } });
  const followed = async () => (await mara.ok('listFollowedTags')).map(({ tag }) => tag);
  expect(await followed()).toEqual(['blåbær']);
  await publish(root, [await upload(root, plainFile('berries'))], { tags: ['BLÅBÆR'], visibility: 'public' });
  expect(await followed()).toEqual(['BLÅBÆR']);
  expect(await mara.ok('getTag', { params: { tag: 'blåbær' } })).toMatchObject({ followed: true });
  await root.ok('renameTag', { params: { tag: 'BLÅBÆR' }, body: { to: 'Blåbær' } });
  expect(await followed()).toEqual(['Blåbær']);
  await mara.ok('unfollowTag', { params: { tag: 'blåBÆR' } });
  expect(await followed()).toEqual([]);
});

// NAME-4
test('of the spellings of a tag that an account followed in an earlier version, the first stays', async () => {
  for (const [day, tag] of ['Größe', 'GRÖSSE', 'grösse'].entries())
    await sql`insert into tag_follows (user_ref, tag, created_at)
      values (${mara.ref}, ${tag}, '2026-01-01'::timestamptz + make_interval(days => ${day}))`.execute(db);
  await keepNameKeys({ db, log });
  expect((await mara.ok('listFollowedTags')).map(({ tag }) => tag)).toEqual(['Größe']);
});

// NAME-8, TERM-3
test('a term is found by every spelling of its label and aliases', async () => {
  const options = { values: [{ value: 'street', label: 'Straße', aliases: ['Fußweg'] }, 'square'] };
  const field = await define(root, { type: 'select', options, code: 'place' });
  const { id } = await upload(root, plainFile('street'));
  const params = { id, field_id: field.id };
  for (const text of ['street', 'STRASSE', 'straße', 'FUSSWEG', 'ｓtraße']) {
    await root.ok('setAssetFieldValue', { params, body: { value_text: text } });
    const { items } = await root.ok('listAssets', { query: { filter: [`field:place=${text}`] } });
    expect([text, items.map((asset) => asset.id)]).toEqual([text, [id]]);
    const { values } = await root.ok('listFieldValues', { params: { id: field.id }, query: { q: text } });
    expect([text, values.map(({ value }) => value)]).toEqual([text, ['street']]);
  }
  const add = (label: string, aliases: string[]) =>
    root.refused('addFieldTerms', {
      params: { id: field.id },
      body: { terms: [{ value: 'new', label, aliases }] },
    });
  for (const refused of [
    await add('FUSSWEG', []),
    await add('new', ['strasse']),
    await add('new', ['fussweg']),
  ])
    expect(refused.status).toBe(400);
});

// NAME-8
test('labels and aliases of an earlier version get keys, and of equal aliases the first stays', async () => {
  const options = { values: ['tree', 'leaf'] };
  const field = await define(root, { type: 'select', options });
  await sql`update field_terms set label = 'Bäume', label_key = null where field_id = ${field.id} and value = 'tree'`.execute(
    db,
  );
  await sql`insert into field_term_aliases (field_id, alias, value) values (${field.id}, 'große', 'tree'),
    (${field.id}, 'grosse', 'leaf'), (${field.id}, 'gro\u0308ße', 'leaf')`.execute(db);
  await keepNameKeys({ db, log });
  const find = async (q: string) =>
    (await root.ok('listFieldValues', { params: { id: field.id }, query: { q } })).values.map(
      ({ value }) => value,
    );
  expect([await find('BÄUME'), await find('GROSSE'), await find('GRÖSSE')]).toEqual([
    ['tree'],
    ['leaf'],
    ['leaf'],
  ]);
  const [event] = await auditEvents(library, { event: 'field.alias.removed' });
  expect(event?.metadata).toEqual({ alias: 'große', value: 'tree', reason: 'same_name' });
});

// NAME-7
test('e-mail addresses are found in every spelling, and need not be unique', async () => {
  const email = `${composed}@straße.example`;
  const [one, two] = await library.joinAll('one', 'two');
  await one.ok('updateUser', { params: { ref: one.ref }, body: { email } });
  const found = async (q: string) =>
    (await root.ok('listUsers', { query: { q } })).items.map(({ username }) => username).sort();
  const spelled = `${decomposed}@STRASSE.example`;
  expect(await found(spelled)).toEqual(['one']);
  // An earlier version stores no key.
  await sql`update users set email = ${spelled} where ref = ${two.ref}`.execute(db);
  await keepNameKeys({ db, log });
  expect(await found(email)).toEqual(['one', 'two']);
  await one.ok('updateUser', { params: { ref: one.ref }, body: { clear_email: true } });
  expect(await found(email)).toEqual(['two']);
});

// NAME-9, FED-65
test('a team is found by peers in every spelling of its slug, which has one', async () => {
  const body = { name: 'Editors', slug: 'editors' };
  await root.ok('createTeam', { body });
  expect((await root.refused('createTeam', { body })).status).toBe(409);
  expect((await root.refused('createTeam', { body: { ...body, slug: 'Editors' } })).status).toBe(400);
});

// NAME-1
test('a person of a share is one in all spellings of the address', () => {
  const person = (name: string) => targetKey(`https://one.example/users/${encodeURIComponent(name)}`);
  expect(person('\u00c9lan')).toBe(person('\u00e9lan'));
  expect(person('ELAN')).not.toBe(person('\u00e9lan'));
});

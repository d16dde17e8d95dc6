import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { fillUsernameKeys, keepUsernameKeys } from '../../src/people/identity/username-keys.ts';
import { openLibrary, password } from '../support/library.ts';
import { signIn } from '../support/people.ts';

const library = await openLibrary();
const { db, log } = library.deps;
const root = await library.join('root', 'admin');

const composed = 'Jos\u00e9';
const decomposed = 'Jose\u0301';

/** Stores an account as an earlier version did, without a key. */
async function insertEarlier(username: string, given = password): Promise<number> {
  const hash = await library.deps.passwords.hash(username, given);
  const { rows } = await sql<{ ref: number }>`insert into users (username, password_hash, role_id)
    select ${username}, ${hash}, id from roles where code = 'member' returning ref`.execute(db);
  return rows[0]?.ref ?? 0;
}

const keyOf = async (ref: number) =>
  (await db.selectFrom('users').select(['username', 'username_key']).where('ref', '=', ref).execute())[0];

const statusOf = async (username: string, given = password) =>
  (await signIn(library, username, given)).status;

// NAME-1
describe('foldName', () => {
  test.each([
    [composed, decomposed],
    ['STRASSE', 'straße'],
    ['ẞ', 'ß'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['Ｆｉｏｎａ', 'ﬁona'],
    ['\u212aelvin', 'kelvin'],
    ['İlker', 'i\u0307lker'],
  ])('returns the same for %s and %s', (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
  });

  test('distinguishes i, dotless i and dotted capital I', () => {
    expect(new Set(['i', 'ı', 'İ'].map(foldName)).size).toBe(3);
  });

  test('returns for every character a result that folding again, case and Unicode forms do not change', () => {
    const wrong: string[] = [];
    for (let code = 0; code < 0x1fc00; code += 1) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const text = String.fromCodePoint(code);
      const folded = foldName(text);
      const others = [folded, text.toLowerCase(), text.normalize('NFC'), text.normalize('NFD')];
      // The capital of the dotless i is that of i.
      if (text !== 'ı') others.push(text.toUpperCase());
      if (others.some((other) => foldName(other) !== folded)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });
});

// NAME-1, SIGNIN-2
test('an account is one in all spellings of its name', async () => {
  const { ref } = await root.ok('createUser', { body: { username: composed, password } });
  for (const spelling of [composed, decomposed, 'JOSE\u0301', 'ｊｏｓ\u00e9']) {
    const taken = await root.refused('createUser', { body: { username: spelling, password } });
    expect(taken).toEqual({ status: 409, error: 'that username is taken' });
    expect(await statusOf(spelling)).toBe(200);
    const shown = await root.ok('getUserByUsername', { params: { username: spelling } });
    expect(shown).toMatchObject({ ref, username: composed });
  }
});

// NAME-1
test('a lock holds for every spelling, and the dotted capital I is not a spelling of i', async () => {
  await root.ok('createUser', { body: { username: 'ines', password } });
  for (let i = 0; i < 5; i += 1) expect(await statusOf('İNES', 'wrong')).toBe(401);
  expect(await statusOf('ines')).toBe(200);
  for (let i = 0; i < 5; i += 1) expect(await statusOf('ｉNES', 'wrong')).toBe(401);
  expect(await statusOf('ines')).toBe(401);
  const { rows } = await sql<{ subject: number }>`select subject_user_ref as subject from audit_events
    where event = 'auth.locked' order by id`.execute(db);
  expect(rows.filter(({ subject }) => subject !== null)).toHaveLength(1);
});

// SIGNIN-16
describe('a password with accents', () => {
  const typed = { nfc: 'caf\u00e9 au lait', nfd: 'cafe\u0301 au lait' };

  // SIGNIN-16
  test.each(Object.entries(typed))('set in %s signs in from both forms', async (form, given) => {
    const username = `accent-${form}`;
    await root.ok('createUser', { body: { username, password: given } });
    for (const one of Object.values(typed)) expect(await statusOf(username, one)).toBe(200);
    expect(await statusOf(username, 'cafe au lait')).toBe(401);
  });

  // SIGNIN-16
  test('whose hash an earlier version made of the decomposed form signs in, and then from both forms', async () => {
    await insertEarlier('earlier', 'to be replaced');
    // `hash` composes, so the decomposed text is given as part of the name.
    const { rows } = await sql<{ hash: string }>`select md5(${`RSearlier${typed.nfd}`}) as hash`.execute(db);
    await sql`update users set password_hash = ${rows[0]?.hash ?? ''} where username = 'earlier'`.execute(db);
    expect(await statusOf('earlier', typed.nfc)).toBe(401);
    expect(await statusOf('earlier', typed.nfd)).toBe(200);
    for (const one of Object.values(typed)) expect(await statusOf('earlier', one)).toBe(200);
  });
});

// NAME-2
test('accounts of an earlier version get their key: ASCII immediately, others with the next job', async () => {
  const plain = await insertEarlier('Nora');
  expect(await keyOf(plain)).toEqual({ username: 'Nora', username_key: 'nora' });
  const accented = await insertEarlier('Zoë');
  expect((await keyOf(accented))?.username_key).toBeNull();
  await sql`select graphile_worker.add_job('key-names', '{}')`.execute(db);
  await library.runJobs();
  expect(await keyOf(accented)).toEqual({ username: 'Zoë', username_key: 'zoë' });
  expect(await statusOf('ZOË')).toBe(200);
});

// NAME-3
test('accounts with the same name are renamed but for the oldest, keep their passwords, and are listed', async () => {
  const names = ['Ren\u00e9', 'Rene\u0301', 'REN\u00c9'];
  const refs: number[] = [];
  for (const [at, name] of names.entries()) refs.push(await insertEarlier(name, `password ${at} of many`));
  const other = await insertEarlier('Rene\u0301-2', 'password of another');
  const said: unknown[] = [];
  const spied = Object.assign(Object.create(log), { warn: (line: unknown) => said.push(line) });
  await keepUsernameKeys({ db, log: spied });
  const [first, second, third] = await Promise.all(refs.map(keyOf));
  expect(first?.username).toBe('Ren\u00e9');
  expect([second?.username, third?.username]).toEqual(['Rene\u0301-2', 'REN\u00c9-3']);
  expect((await keyOf(other))?.username).toBe('Rene\u0301-2-2');
  expect(said).toHaveLength(3);
  expect(await statusOf('rené', 'password 0 of many')).toBe(200);
  expect(await statusOf('rené-2', 'password 1 of many')).toBe(200);
  expect(await statusOf('rené-3', 'password 2 of many')).toBe(200);
  expect(await statusOf('rené-2-2', 'password of another')).toBe(200);

  const { items } = await root.ok('listAudit', { query: { event: 'user.renamed' } });
  expect(items.map(({ subject_user_ref }) => subject_user_ref).sort()).toEqual(
    [refs[1], refs[2], other].sort(),
  );
  const { checks } = await root.ok('getDoctor');
  const check = checks.find(({ code }) => code === 'renamed_names');
  expect(check).toMatchObject({ status: 'warning' });
  expect(check?.detail).toContain('REN\u00c9 is now REN\u00c9-3');

  // Repeating it changes nothing, and a new password is hashed with the new name.
  expect(await fillUsernameKeys(db)).toEqual([]);
  await root.ok('resetPassword', { params: { ref: refs[1] ?? 0 } });
  const { rows } = await sql<{ hashed_as: string | null }>`select hashed_as from users
    where ref = any(${[refs[1], refs[2]]}::bigint[]) order by ref`.execute(db);
  expect(rows.map(({ hashed_as }) => hashed_as)).toEqual([null, 'REN\u00c9']);
});

// NAME-3
test('several processes that start at once fill in every key once', async () => {
  for (let i = 0; i < 30; i += 1) await insertEarlier(`ö${i}`);
  await insertEarlier('Ö1');
  const renamed = await Promise.all([fillUsernameKeys(db), fillUsernameKeys(db), fillUsernameKeys(db)]);
  expect(renamed.flat()).toMatchObject([{ from: 'Ö1', to: 'Ö1-2' }]);
  expect((await sql`select from users where username_key is null`.execute(db)).rows).toEqual([]);
});

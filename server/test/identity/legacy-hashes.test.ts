import { createHmac } from 'node:crypto';
import { hashSync } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { type Hashing, openHashing } from '../../src/people/identity/hashing.ts';
import { keepImportedKey } from '../../src/people/identity/imported-keys.ts';
import { type Library, openLibrary } from '../support/library.ts';
import { addAccount, signIn, storedHashOf } from '../support/people.ts';
import { addFailures, forgetFailures } from './failures.ts';
import { firstOfForm, legacyUsers, scrambleKey } from './legacy-users.ts';

/** Opens a library with the accounts of the former system. */
async function openLegacyLibrary(hashing?: Hashing): Promise<Library> {
  const library = await openLibrary(
    { VITRINE_SCRAMBLE_KEY: scrambleKey },
    hashing === undefined ? {} : { hashing },
  );
  for (const { username, hash } of legacyUsers) await addAccount(library, username, hash);
  return library;
}

/** A library that hashes cheaply, and one at the usual cost. */
const library = await openLegacyLibrary();
const usual = await openLegacyLibrary(openHashing());

/** Replaces the last letter. */
const withOneLetterChanged = (text: string) => text.replace(/.$/u, (last) => (last === 'x' ? 'y' : 'x'));

test('the fixtures have the three forms of the earlier system', () => {
  for (const { form, hash } of legacyUsers) {
    const shape = { bcrypt: /^\$2y\$10\$.{53}$/, sha256: /^[0-9a-f]{64}$/, md5: /^[0-9a-f]{32}$/ }[form];
    expect(hash).toMatch(shape);
  }
  expect([...firstOfForm.keys()].sort()).toEqual(['bcrypt', 'md5', 'sha256']);
});

// SIGNIN-8
test('every account of the earlier system signs in, unless a letter of the password differs', async () => {
  for (const { username, password, hash } of firstOfForm.values()) {
    expect((await signIn(library, username, withOneLetterChanged(password))).status).toBe(401);
    expect(await storedHashOf(library, username)).toBe(hash);
  }
  for (const { form, username, password } of legacyUsers) {
    const { status } = await signIn(library, username, password);
    expect([form, username, status]).toEqual([form, username, 200]);
  }
});

// SIGNIN-10
test('does not renew the hash of a locked name, which would reveal the right password', async () => {
  for (const { username, password, hash } of firstOfForm.values()) {
    await addFailures(usual, username, 4);
    await signIn(usual, username, 'wrong');
    expect((await signIn(usual, username, password)).status).toBe(401);
    expect(await storedHashOf(usual, username)).toBe(hash);
  }
  await forgetFailures(usual);
});

// SIGNIN-7
test('renews each form of hash at the first sign-in, at the usual cost', async () => {
  for (const { username, password, hash } of firstOfForm.values()) {
    expect((await signIn(usual, username, password)).status).toBe(200);
    const renewed = await storedHashOf(usual, username);
    expect(renewed).not.toBe(hash);
    expect(Number(/^\$2[aby]\$(\d\d)\$/.exec(renewed ?? '')?.[1])).toBeGreaterThan(10);
    expect((await signIn(usual, username, password)).status).toBe(200);
    expect(await storedHashOf(usual, username)).toBe(renewed);
  }
});

/** Returns the hash that PHP makes with `PASSWORD_ARGON2ID` and its default costs. */
function argon2Of(key: string, username: string, password: string): string {
  const keyed = createHmac('sha256', key).update(`RS${username}${password}`).digest('hex');
  return hashSync(keyed, { memoryCost: 65_536, timeCost: 4, parallelism: 1 });
}

// SIGNIN-8
test('accepts Argon2id of the earlier system and replaces it', async () => {
  const stored = argon2Of(scrambleKey, 'Zoë', 'pässwörd');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=65536,t=4,p=1\$/);
  await addAccount(library, 'Zoë', stored);
  expect((await signIn(library, 'Zoë', 'password')).status).toBe(401);
  expect((await signIn(library, 'Zoë', stored)).status).toBe(401);
  expect(await storedHashOf(library, 'Zoë')).toBe(stored);
  expect((await signIn(library, 'Zoë', 'pässwörd')).status).toBe(200);
  expect(await storedHashOf(library, 'Zoë')).toMatch(/^\$2[by]\$/);
});

// SIGNIN-8
test('refuses Argon2id whose cost would exhaust the memory', async () => {
  const stored = argon2Of(scrambleKey, 'greedy', 'password').replace('m=65536', 'm=999999');
  await addAccount(library, 'greedy', stored);
  expect((await signIn(library, 'greedy', 'password')).status).toBe(401);
});

// SIGNIN-8
test('accepts hashes under the key of an imported system while the service runs', async () => {
  const { db } = library.deps;
  await addAccount(library, 'moved', argon2Of('the key there', 'moved', 'password'));
  expect((await signIn(library, 'moved', 'password')).status).toBe(401);
  for (const key of ['the key there', 'another key', 'the key there'])
    await db.transaction().execute((tx) => keepImportedKey(tx, key));
  expect((await signIn(library, 'moved', 'password')).status).toBe(200);
});

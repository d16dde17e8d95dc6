import { expect, test } from 'vitest';
import { type Hashing, openHashing } from '../../src/people/identity/hashing.ts';
import { type Library, openLibrary } from '../support/library.ts';
import { addAccount, signIn, storedHashOf } from '../support/people.ts';
import { addFailures } from './failures.ts';
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
  const library = await openLegacyLibrary();
  for (const { username, password, hash } of firstOfForm.values()) {
    expect((await signIn(library, username, withOneLetterChanged(password))).status).toBe(401);
    expect(await storedHashOf(library, username)).toBe(hash);
  }
  for (const { form, username, password } of legacyUsers) {
    const { status } = await signIn(library, username, password);
    expect([form, username, status]).toEqual([form, username, 200]);
  }
});

// SIGNIN-7
test('renews each form of hash at the first sign-in, at the usual cost', async () => {
  const library = await openLegacyLibrary(openHashing());
  for (const { username, password, hash } of firstOfForm.values()) {
    expect((await signIn(library, username, password)).status).toBe(200);
    const renewed = await storedHashOf(library, username);
    expect(renewed).not.toBe(hash);
    expect(Number(/^\$2[aby]\$(\d\d)\$/.exec(renewed ?? '')?.[1])).toBeGreaterThan(10);
    expect((await signIn(library, username, password)).status).toBe(200);
    expect(await storedHashOf(library, username)).toBe(renewed);
  }
});

// SIGNIN-10
test('does not renew the hash of a locked name, which would reveal the right password', async () => {
  const library = await openLegacyLibrary(openHashing());
  for (const { username, password, hash } of firstOfForm.values()) {
    await addFailures(library, username, 4);
    await signIn(library, username, 'wrong');
    expect((await signIn(library, username, password)).status).toBe(401);
    expect(await storedHashOf(library, username)).toBe(hash);
  }
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';
import { expect, test } from 'vitest';
import { type Hashing, openHashing } from '../../src/identity/hashing.ts';
import { type Library, openLibrary } from '../support/library.ts';
import { addAccount, signIn, storedHashOf } from '../support/people.ts';

/** Hashes from PHP's own functions, created with `php -r "$(jq -r .made_with FILE)"`. */
const fixtures = Parse(
  Type.Object({
    scramble_key: Type.String(),
    users: Type.Array(
      Type.Object({
        form: Type.Enum(['bcrypt', 'sha256', 'md5']),
        username: Type.String(),
        password: Type.String(),
        hash: Type.String(),
      }),
      { minItems: 30 },
    ),
  }),
  JSON.parse(readFileSync(join(import.meta.dirname, 'legacy-hashes.json'), 'utf8')),
);

/** Opens a library with the accounts of the former system. */
async function openLegacyLibrary(hashing?: Hashing): Promise<Library> {
  const library = await openLibrary(
    { VITRINE_SCRAMBLE_KEY: fixtures.scramble_key },
    hashing === undefined ? {} : { hashing },
  );
  for (const { username, hash } of fixtures.users) await addAccount(library, username, hash);
  return library;
}

const firstOfForm = new Map(fixtures.users.toReversed().map((user) => [user.form, user]));

/** Replaces the last letter. */
function withOneLetterChanged(text: string): string {
  const letters = [...text];
  return [...letters.slice(0, -1), letters.at(-1) === 'x' ? 'y' : 'x'].join('');
}

test('the fixtures have the three forms of the earlier system', () => {
  for (const { form, hash } of fixtures.users) {
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
  for (const { form, username, password } of fixtures.users) {
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';
import { beforeAll, describe, expect, test } from 'vitest';
import { openHashing } from '../../src/identity/hashing.ts';
import { visit } from '../support/client.ts';
import { type Library, openLibrary } from '../support/library.ts';
import { storedHashOf } from '../support/people.ts';

/** Hashes that PHP's own functions made; `made_with` is the program: `php -r "$(jq -r .made_with FILE)"`. */
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

let library: Library;

beforeAll(async () => {
  library = await openLibrary({ VITRINE_SCRAMBLE_KEY: fixtures.scramble_key }, { hashing: openHashing() });
  await library.deps.db
    .insertInto('users')
    .values((eb) =>
      fixtures.users.map(({ username, hash }) => ({
        username,
        password_hash: hash,
        role_id: eb.selectFrom('roles').select('id').where('code', '=', 'member').$asScalar(),
      })),
    )
    .execute();
});

async function signIn(username: string, password: string): Promise<number> {
  const body = { username, password };
  return (await visit(library.address).send('/auth/login', { method: 'POST', body })).status;
}

/** The same length with another last letter. */
function withOneLetterChanged(text: string): string {
  const letters = [...text];
  return [...letters.slice(0, -1), letters.at(-1) === 'x' ? 'y' : 'x'].join('');
}

/** bcrypt's cost, as the hash names it. */
function costOf(hash: string | null): number {
  return Number(/^\$2[aby]\$(\d\d)\$/.exec(hash ?? '')?.[1]);
}

test('the hashes are of the three forms that the earlier system wrote', () => {
  for (const { form, hash } of fixtures.users) {
    const shape = { bcrypt: /^\$2y\$10\$.{53}$/, sha256: /^[0-9a-f]{64}$/, md5: /^[0-9a-f]{32}$/ }[form];
    expect(hash).toMatch(shape);
  }
});

// SIGNIN-8
describe.each(fixtures.users)('$form of $username', ({ username, password, hash }) => {
  test('one letter changed is no way in', async () => {
    expect(await signIn(username, withOneLetterChanged(password))).toBe(401);
    expect(await storedHashOf(library, username)).toBe(hash);
  });

  // SIGNIN-7
  test('the password signs in, is hashed anew in the current form, and signs in again', async () => {
    expect(await signIn(username, password)).toBe(200);
    const renewed = await storedHashOf(library, username);
    expect(renewed).not.toBe(hash);
    expect(costOf(renewed)).toBeGreaterThan(10);
    expect(await signIn(username, password)).toBe(200);
    expect(await storedHashOf(library, username)).toBe(renewed);
  });
});

import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { openHashing } from '../../src/people/identity/hashing.ts';
import { openLibrary } from '../support/library.ts';

/** The usual cost, so that sign-ins arrive faster than passwords are hashed. */
const COST = 11;
const QUEUE = 2;

// RATE-10
test('refuses a sign-in when too many passwords wait to be hashed, and takes the next one', async () => {
  const library = await openLibrary(
    { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: 'a long password' },
    { hashing: openHashing(COST, QUEUE) },
  );
  const signIn = () =>
    fetch(`${library.address}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'root', password: 'a long password' }),
    });
  const answers = await Promise.all(Array.from({ length: availableParallelism() + QUEUE + 6 }, signIn));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expect(answer.headers.get('retry-after')).toBe('30');
    expect(await answer.json()).toEqual({ error: 'too many sign-ins at once' });
  }
  const others = answers.filter((answer) => !refused.includes(answer));
  expect(others.length).toBeGreaterThan(QUEUE);
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await signIn()).status).toBe(200);
});

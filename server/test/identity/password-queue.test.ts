import { availableParallelism } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { type Hashing, openHashing } from '../../src/people/identity/hashing.ts';
import { visit } from '../support/client.ts';
import { openDirectory } from '../support/directory.ts';
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

// RATE-2
test('hashes at most 100 passwords a minute for an address, over all names, ways and headers', async () => {
  const directory = await openDirectory({ base: 'dc=example,dc=org', entries: [] });
  onTestFinished(directory.close);
  const cheap = openHashing(4);
  let hashed = 0;
  const counting: Hashing = {
    cost: cheap.cost,
    hash(digest) {
      hashed += 1;
      return cheap.hash(digest);
    },
    verify(digest, hash) {
      hashed += 1;
      return cheap.verify(digest, hash);
    },
  };
  const library = await openLibrary(
    {
      VITRINE_RATE_LIMITS: 'on',
      VITRINE_IDENTITY_PROVIDERS: 'ldap',
      VITRINE_LDAP_URL: `ldap://127.0.0.1:${directory.port}`,
      VITRINE_LDAP_SEARCH_BASE: 'dc=example,dc=org',
    },
    { hashing: counting },
  );
  const ways = [{}, { provider: 'ldap' }, { provider: 'unknown' }];
  const statuses: number[] = [];
  for (let at = 0; at < 240; at += 1) {
    const stranger = visit(library.address, { 'x-forwarded-for': `203.0.113.${at}` });
    const body = { username: `name-${at}`, password: 'a guess', ...ways[at % ways.length] };
    statuses.push(await stranger.status('POST', '/auth/login', body));
  }
  expect(statuses).toEqual([...Array<number>(100).fill(401), ...Array<number>(140).fill(429)]);
  expect(hashed).toBeGreaterThan(0);
  expect(hashed).toBeLessThanOrEqual(100);
  const searches = directory.asked.filter((line) => line.startsWith('search '));
  expect(searches.length).toBeGreaterThan(0);
  expect(searches.length).toBeLessThanOrEqual(100);
});

import type { Operation } from '@vitrine/contract/operation';
import { basePath, operations } from '@vitrine/contract/operations';
import { expect, test } from 'vitest';
import { startSession } from '../../src/people/identity/sessions.ts';
import { holdAnswer, textOf } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { randomFrom } from '../support/samples.ts';
import { addTeam } from '../support/teams.ts';
import { type Found, harvest, requestFor } from './requests.ts';

/** A small budget; `FUZZ_REQUESTS=100000 FUZZ_SEED=7 npm run fuzz` sends many more. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 600);
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_123);
const AT_ONCE = 8;
/** Jobs run after this many requests. */
const ROUND = 300;
/** The longest time that a request of this size may take, even on a busy machine. */
const MOST_MS = 20_000;

/** All operations except uploads, which take no JSON. */
const all = Object.values(operations).filter(
  (operation: Operation) => operation.tus !== true && operation.form !== 'only',
);

const library = await openLibrary();
const admin = await library.join('admin', 'admin');
const [member, other] = await library.joinAll('member', 'other');
const viewer = await library.join('viewer', 'viewer');
await addTeam(library, 'crew', [member]);
const assets = [await upload(member, plainFile('one')), await upload(member, plainFile('two'))];
await publish(member, assets, { title: 'Quay', visibility: 'public', tags: ['harbour'] });
const readToken = (await admin.ok('createToken', { body: { name: 'fuzz', scopes: ['read'] } })).token;

/** A caller with credentials, and a function that signs in again after the session has ended. */
interface Caller {
  headers: Record<string, string>;
  renew(): Promise<void>;
}

function callersOf(): Caller[] {
  const signedIn = ({ ref }: Account): Caller => ({
    headers: {},
    async renew() {
      const session = { userRef: ref, days: 30, address: '127.0.0.1', userAgent: 'fuzz' };
      this.headers = { cookie: `user=${(await startSession(library.deps.db, session)).token}` };
    },
  });
  const fixed = (headers: Record<string, string>): Caller => ({ headers, renew: async () => {} });
  // Most requests are those of callers who may do much.
  const [strong, usual] = [signedIn(admin), signedIn(member)];
  const token = fixed({ authorization: `Bearer ${readToken}` });
  return [fixed({}), token, signedIn(viewer), strong, usual, strong, usual];
}

// HTTP-1, HTTP-2
test('no sequence of requests causes a 500, an undeclared response or a timeout', async () => {
  const random = randomFrom(SEED);
  const own = new Set([admin, member, viewer].map(({ ref }) => ref));
  const found: Found = { ids: [], refs: [other.ref], texts: [] };
  const faults: string[] = [];
  const statuses = new Map<number, number>();
  let left = REQUESTS;
  let slowest = 0;

  const callers = callersOf();
  const sendOne = async () => {
    const operation = all[Math.floor(random() * all.length)];
    const caller = callers[Math.floor(random() * callers.length)];
    if (operation === undefined || caller === undefined) return;
    const { method, path, headers, body } = requestFor(operation, found, random);
    const url = library.address + basePath + path;
    const began = performance.now();
    const init = { method, headers: { ...headers, ...caller.headers } };
    const response = await fetch(url, { ...init, ...(body === undefined ? {} : { body }) });
    const text = await textOf(response);
    const took = performance.now() - began;
    slowest = Math.max(slowest, took);
    if (response.status === 401) await caller.renew();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    const said = `${operation.id}: ${response.status} in ${took.toFixed(0)} ms to ${method} ${path.slice(0, 300)} ${body?.slice(0, 500) ?? ''}`;
    if (response.status >= 500 && response.status !== 501) faults.push(`${said} ${text.slice(0, 200)}`);
    else if (took > MOST_MS) faults.push(said);
    else if (response.headers.get('content-type')?.includes('json') === true) {
      try {
        holdAnswer(method, url, { status: response.status, headers: response.headers, text });
      } catch (error) {
        faults.push(`${said} ${String(error).slice(0, 500)}`);
      }
      if (response.ok) harvest(found, text, own, random);
    }
  };
  const lane = async (round: { left: number }) => {
    while (round.left > 0) {
      round.left -= 1;
      await sendOne();
    }
  };
  while (left > 0) {
    const round = { left: Math.min(ROUND, left) };
    left -= round.left;
    await Promise.all(Array.from({ length: AT_ONCE }, () => lane(round)));
    if (left > 0) await library.runJobs();
    if (left > 0 && left % 9000 === 0) {
      const { rss } = process.memoryUsage();
      console.log(`${left} left, ${faults.length} faults, ${(rss / 1e6).toFixed(0)} MB`);
    }
  }
  if (process.env.FUZZ_REQUESTS !== undefined)
    console.log([...statuses].sort(), `slowest ${slowest.toFixed(0)} ms`);
  expect(faults, `FUZZ_SEED=${SEED}`).toEqual([]);
  // Requests that are all refused would prove little.
  expect((statuses.get(200) ?? 0) / REQUESTS).toBeGreaterThan(0.05);
}, 30_000_000);

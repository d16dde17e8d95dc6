import { setTimeout as sleep } from 'node:timers/promises';
import { CallError } from '@vitrine/contract/client';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import type { Visitor } from '../support/client.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Home, openHome, passTime } from './processes.ts';

/** The number of further rounds with a kill at another step each: `ROUNDS=100 npx vitest run <this file>`. */
const ROUNDS = Number(process.env.ROUNDS ?? 0);
const SECONDS_PER_WAIT = 120;

/** The installs that are still to be killed in this round, each at the first of these steps. */
let plan: { victim: () => Home; isAt: (step: string) => boolean }[] = [];
let restarting: Promise<void> = Promise.resolve();
const steps = new Set<string>();

async function restart(home: Home): Promise<void> {
  await home.kill();
  await passTime(home, { crashed: true });
  await home.start();
}

const watch = (receiver: string) => async (step: string) => {
  const name = `${receiver}: ${step}`;
  steps.add(name);
  const during = name.replace(' before ', ' during ');
  steps.add(during);
  const kill = plan.find(({ isAt }) => isAt(name) || isAt(during));
  if (kill === undefined) return;
  const { victim } = kill;
  plan = plan.filter((one) => one !== kill);
  if (!kill.isAt(name)) {
    restarting = sleep(Math.random() * 15).then(() => restart(victim()));
    return;
  }
  const killed = victim().kill();
  restarting = killed.then(() => restart(victim()));
  await killed;
};
const [harbour, studio] = await Promise.all([
  openHome('Harbour', watch('harbour')),
  openHome('Studio', watch('studio')),
]);

afterAll(() => Promise.all([harbour?.close(), studio?.close()]));

/** The library was killed before or while it answered, or it does not listen yet. */
const isLostConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(ECONN|EPIPE)/.test(String(error.code));

/** Repeats a call until it gets a response, like a user whose library was unavailable for a moment. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  const until = Date.now() + SECONDS_PER_WAIT * 1000;
  for (;;) {
    await restarting;
    try {
      return await call();
    } catch (error) {
      const passing = isLostConnection(error) || (error instanceof CallError && error.status >= 500);
      const unreached = error instanceof CallError && error.status === 422;
      if ((!passing && !unreached) || Date.now() > until) throw error;
      await sleep(50);
    }
  }
}

/** Waits until both installs meet a condition, while the clock advances for whatever is due to be retried. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + SECONDS_PER_WAIT * 1000;
  while (!(await insist(isSo))) {
    if (Date.now() > deadline) throw new Error(`it never comes about that ${what}: ${await stateOfBoth()}`);
    await passTime(harbour);
    await passTime(studio);
    await sleep(100);
  }
}

async function stateOfBoth(): Promise<string> {
  const states = await Promise.all(
    [harbour, studio].map(async ({ name, database: { db } }) => {
      const { rows: peers } = await sql`select state, last_error from federation_peers`.execute(db);
      const { rows: outbox } = await sql`select seq, activity, kind, status, attempts, last_error
        from federation_outbox where status in ('queued', 'failed') order by seq`.execute(db);
      const { rows: refused } = await sql`select type, reason, detail from federation_rejections`.execute(db);
      const { rows: jobs } = await sql`select task_identifier, attempts, last_error, locked_at, run_at from
        graphile_worker.jobs where task_identifier in ('deliver', 'unpair', 'fetch-renditions')`.execute(db);
      return { name, peers, outbox, refused, jobs };
    }),
  );
  return JSON.stringify(states, null, 1);
}

const peersOf = async (home: Home) => (await home.root().ok('listPeers')).items;
const isConnected = async (home: Home) => (await peersOf(home))[0]?.state === 'connected';

async function accept(home: Home): Promise<void> {
  const [peer] = await insist(() => peersOf(home));
  if (peer !== undefined) await insist(() => home.root().ok('acceptPeer', { params: { id: peer.id } }));
}

/** Pairs the installs, and tries again when nothing happens, as administrators do. */
async function pair(): Promise<string> {
  await insist(async () => {
    if ((await peersOf(harbour)).length === 0)
      await harbour.root().ok('addPeer', { body: { address: studio.address } });
  });
  await until('both are connected', async () => {
    if (!(await isConnected(harbour))) await accept(harbour);
    if (!(await isConnected(studio))) await accept(studio);
    return (await isConnected(harbour)) && (await isConnected(studio));
  });
  return (await insist(() => peersOf(harbour)))[0]?.id ?? '';
}

/** Comments exactly once: checks for the comment before writing again when a response is lost. */
async function comment(home: Home, post: string, body: string, parent: string | null): Promise<string> {
  return insist(async () => {
    const known = (await commentsOn(home, post)).find((one) => one.body === body);
    if (known !== undefined) return known.id;
    const input = { params: { id: post }, body: { body, parent_id: parent } };
    return (await home.root().ok('createComment', input)).id;
  });
}

async function commentsOn({ root }: Home, post: string) {
  const { items } = await root().ok('listComments', { params: { id: post } });
  return items.flatMap((item) => [item, ...item.replies]);
}

const bodiesOn = async (home: Home, post: string) =>
  (await commentsOn(home, post)).map(({ body }) => body).sort();

async function gone(remove: () => Promise<unknown>): Promise<void> {
  await insist(async () => {
    try {
      await remove();
    } catch (error) {
      if (!(error instanceof CallError && error.status === 404)) throw error;
    }
  });
}

const postsAt = async (root: Visitor) => (await root.ok('listPosts')).items;

/** Runs everything from pairing to unpairing. Returns what the receiver still holds, which should be nothing. */
async function playRound(round: number): Promise<void> {
  const title = `Round ${round}`;
  const asset = await insist(async () =>
    upload(harbour.root(), await jpeg(64, 48, { seed: round }), { sensitivity: 'posts' }),
  );
  const post = await insist(() => publish(harbour.root(), [asset], { title }));
  const peer_id = await pair();
  const params = { id: post.id, peer_id };
  await insist(() => harbour.root().ok('putPostPeer', { params, body: { scope: 'comment' } }));
  await until('the post is shown with its picture', async () => {
    const [mirrored] = await postsAt(studio.root());
    const [member] = mirrored?.members ?? [];
    if (member?.restricted !== false) return false;
    return member.asset.processing_status === 'ready' && member.asset.preview_available;
  });
  const arrived = await insist(() => postsAt(studio.root()));
  expect(arrived.map((one) => one.title)).toEqual([title]);
  const there = arrived[0]?.id ?? '';

  await comment(studio, there, 'One', null);
  await insist(() => studio.root().ok('likePost', { params: { id: there } }));
  await until('the comment has arrived', async () => (await bodiesOn(harbour, post.id)).length > 0);
  const [first] = await insist(() => commentsOn(harbour, post.id));
  await comment(harbour, post.id, 'Two', first?.id ?? '');
  await insist(() =>
    harbour.root().ok('updatePost', { params: { id: post.id }, body: { title: `${title}, again` } }),
  );
  await comment(studio, there, 'Three', null);
  const all = ['One', 'Three', 'Two'];
  await until('both have all comments and the new title', async () => {
    const [here, far] = [await bodiesOn(harbour, post.id), await bodiesOn(studio, there)];
    const [mirrored] = await postsAt(studio.root());
    return here.length >= 3 && far.length >= 3 && mirrored?.title === `${title}, again`;
  });
  expect(await insist(() => bodiesOn(harbour, post.id))).toEqual(all);
  expect(await insist(() => bodiesOn(studio, there))).toEqual(all);
  expect(await insist(() => harbour.root().ok('getPost', { params: { id: post.id } }))).toMatchObject({
    like_count: 1,
    comment_count: 3,
  });

  await gone(() => harbour.root().ok('deletePostPeer', { params }));
  await until('the post is gone', async () => (await postsAt(studio.root())).length === 0);
  for (const home of [harbour, studio]) {
    const { items } = await insist(() => home.root().ok('listFederationRejections'));
    expect(items.filter(({ reason }) => !passingReasons.has(reason))).toEqual([]);
  }
  const [harbourThere] = await insist(() => peersOf(studio));
  await gone(() => studio.root().ok('removePeer', { params: { id: harbourThere?.id ?? '' } }));
  await until('the harbour knows that the pairing has ended', async () => !(await isConnected(harbour)));
  await gone(() => harbour.root().ok('removePeer', { params: { id: peer_id } }));
  await until('nothing is left to do', async () =>
    (await Promise.all([harbour, studio].map(isIdle))).every(Boolean),
  );
  await restarting;
  await sweep({ db: studio.database.db, storage: studio.storage }, Date.now() + 1000, 0);
  expect(await leftAt(studio)).toEqual({ rows: 0, files: [] });
  expect(await bodiesOn(harbour, post.id)).toEqual(all);
  await harbour.root().ok('deletePost', { params: { id: post.id }, body: undefined });
}

/** Reasons that are correct while the other side has not yet recorded a connection or its end. */
const passingReasons = new Set(['peer_disabled', 'unknown_peer']);

async function isIdle({ database: { db } }: Home): Promise<boolean> {
  const { rows } =
    await sql`select from graphile_worker.jobs where task_identifier in ('deliver', 'unpair', 'release-bytes')
      and attempts < max_attempts
    union all select from federation_outbox where status in ('queued', 'failed')`.execute(db);
  return rows.length === 0;
}

async function leftAt({ database: { db }, storage }: Home) {
  const { rows } = await sql<{ rows: number }>`
    select (select count(*) from posts) + (select count(*) from assets) + (select count(*) from files) + (select count(*) from comments) + (select count(*) from federated_objects)
    + (select count(*) from federation_grants) + (select count(*) from remote_actors)
    + (select count(*) from federation_peers) as rows`.execute(db);
  const files: string[] = [];
  for await (const { key } of storage.list('')) files.push(key);
  return { rows: rows[0]?.rows, files };
}

// FED-73
test(
  'killing either library at any step of pairing, sharing, commenting and revoking neither loses nor repeats anything',
  async () => {
    // Kills each library once: before it has recorded a change, and before its response arrives.
    plan = [
      { victim: () => studio, isAt: (step) => /^studio: before POST .*inbox/.test(step) },
      { victim: () => harbour, isAt: (step) => /^harbour: after POST .*inbox/.test(step) },
    ];
    await playRound(0);
    expect(plan).toEqual([]);
    const known = [...steps].sort();
    expect(known.length).toBeGreaterThan(20);
    const kills = known.flatMap((step) => [
      { victim: () => harbour, name: 'harbour', step },
      { victim: () => studio, name: 'studio', step },
    ]);
    for (let round = 1; round <= ROUNDS; round += 1) {
      // A stride coprime to their number visits all steps before any step twice.
      const kill = kills[(round * 7919) % kills.length];
      if (kill === undefined) throw new Error('there are no steps');
      plan = [{ victim: kill.victim, isAt: (step) => step === kill.step }];
      const began = performance.now();
      try {
        await playRound(round);
      } catch (error) {
        throw new Error(`round ${round}: ${kill.name} killed at "${kill.step}"`, { cause: error });
      }
      const took = Math.round(performance.now() - began);
      console.log(`round ${round}: ${kill.name} killed at "${kill.step}", ${took} ms`);
    }
  },
  240_000 + ROUNDS * 240_000,
);

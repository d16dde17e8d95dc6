import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { startEmbedded } from '../../src/platform/database/embedded.ts';
import { requestAs } from '../support/client.ts';
import { urlOf } from '../support/clone.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { isAlive, postmasterOf, startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { base } from './clusters.ts';
import { expectSurvival, isReady, until } from './disturbed.ts';

/** Returns the processes of a PostgreSQL, the postmaster first. */
function processesOf(postmaster: number): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return [postmaster, ...rows.filter(([, parent]) => parent === postmaster).map(([pid = 0]) => pid)];
}

const dataDir = await temporaryDirectory(base);
const startDatabase = () => startEmbedded({ dataDir, log: () => {}, settings: { fsync: 'off' } });
let database = await startDatabase();
const service = await startProcess(await temporaryDirectory(), {
  ...rootSettings,
  DATABASE_URL: urlOf(database.connection),
});
const visitor = await signInAt(service.address);
const running = { service, visitor };
/** A connection outside of the service, which disturbs the service's connections. */
let control = await connectControl();
afterAll(async () => {
  await control.end();
  service.child.kill('SIGTERM');
  await service.exited;
  await database.stop();
});

async function connectControl(): Promise<pg.Client> {
  const client = new pg.Client({ ...database.connection, application_name: 'control' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function endConnections(): Promise<void> {
  const text = 'select pg_terminate_backend(pid) from unnest($1::integer[]) pid';
  await control.query(text, [await backends()]);
}

async function backends(): Promise<number[]> {
  const { rows } = await control.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
     and pid <> pg_backend_pid() order by backend_start`,
  );
  return rows.map(({ pid }) => pid);
}

/** The same, on a new connection if necessary; null while PostgreSQL recovers, which ends accepted connections. */
async function connectedBackends(): Promise<number[] | null> {
  const found = await backends().catch(() => null);
  if (found === null) control = await connectControl().catch(() => control);
  return found;
}

/** Kills a backend of the service once it has several, and returns its pid; null before. */
async function killBackend(): Promise<number | null> {
  const [victim, , third] = (await connectedBackends()) ?? [];
  if (victim === undefined || third === undefined || !isAlive(victim)) return null;
  process.kill(victim, 'SIGKILL');
  return victim;
}

// RUN-4
describe('an external PostgreSQL', () => {
  // RUN-4
  test('ends every connection, or loses a backend to kill -9: requests are 503 while it recovers', async () => {
    await expectSurvival(running, async () => {
      for (let round = 0; round < 2; round += 1) {
        await endConnections();
        await sleep(150);
      }
      let killed: number | null = null;
      await until('the service is connected, and a backend of it is killed', async () => {
        killed = await killBackend();
        return killed !== null;
      });
      // At first it still accepts connections, which the recovery ends.
      await until('PostgreSQL has recovered', async () => {
        const alive = await connectedBackends();
        return alive !== null && killed !== null && !alive.includes(killed);
      });
    });
  });

  test('is restarted: requests are 503 until it is back', async () => {
    const seen = await expectSurvival(running, async () => {
      await control.end();
      await database.stop();
      expect(await isReady(running)).toBe(false);
      database = await startDatabase();
      control = await connectControl();
    });
    expect(seen.refused).toBeGreaterThan(0);
  });

  // RUN-4
  test('hangs: every request is answered within 5 s, and the service recovers', async () => {
    const stopped = processesOf(await postmasterOf(dataDir));
    const slowest = await (async () => {
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
      try {
        const timed = async (answer: Promise<{ status: number; headers: Headers }>) => {
          const since = Date.now();
          const { status, headers } = await answer;
          expect([status, headers.has('retry-after')]).toEqual([503, true]);
          return Date.now() - since;
        };
        const first = Array.from({ length: 10 }, () => timed(visitor.send('/posts')));
        const took = await Promise.all([...first, timed(fetch(`${service.address}/readyz`))]);
        // The loss is known by now, so no request waits.
        for (let i = 0; i < 10; i += 1) took.push(await timed(visitor.send('/posts')));
        return Math.max(...took);
      } finally {
        for (const pid of stopped.reverse()) process.kill(pid, 'SIGCONT');
      }
    })();
    // Twice what is promised, because a busy machine takes its time as well. The database would answer none of them.
    expect(slowest).toBeLessThan(10_000);
    await until('ready again', () => isReady(running));
    await visitor.ok('listPosts');
  });

  test('is lost during an event stream, which stays open and catches up', async () => {
    const abort = new AbortController();
    const post = await publish(visitor, [await upload(visitor, plainFile())]);
    const response = await requestAs(visitor, service, '/events', { signal: abort.signal });
    expect(response.status).toBe(200);
    let text = '';
    let ended = false;
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
      ended = true;
    })().catch(() => {});
    await until('the first event', () => text.includes('event: '));
    text = '';
    await endConnections();
    // Notified while nothing listens.
    await control.query(
      `insert into notifications (user_ref, kind, act, post_id, in_app, mail)
       select ref, 'mention', 'test', $1, true, 'off' from users`,
      [post.id],
    );
    await until('the notification', () => text.includes('"unread_count":1'));
    expect(ended).toBe(false);
    abort.abort();
    await reading;
  });
});

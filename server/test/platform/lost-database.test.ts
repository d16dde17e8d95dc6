import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedDatabase, startEmbedded } from '../../src/platform/database/embedded.ts';
import { visit } from '../support/client.ts';
import { urlOf } from '../support/clone.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { isAlive, postmasterOf, startProcess } from '../support/process.ts';
import { base } from './clusters.ts';
import { expectSurvival, isReady, type Running, until } from './disturbed.ts';

/** Returns the processes of a PostgreSQL, the postmaster first. */
function processesOf(postmaster: number): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return [postmaster, ...rows.filter(([, parent]) => parent === postmaster).map(([pid = 0]) => pid)];
}

// RUN-4
describe('an external PostgreSQL', () => {
  let dataDir: string;
  let ownDir: string;
  let database: EmbeddedDatabase;
  let running: Running;
  let control: pg.Client;

  /** A connection outside of the service, which disturbs the service's connections. */
  async function connectControl(): Promise<void> {
    const client = new pg.Client({ ...database.connection, application_name: 'control' });
    client.on('error', () => {});
    await client.connect();
    control = client;
  }

  beforeAll(async () => {
    dataDir = await mkdtemp(join(base, 'vitrine-lost-'));
    await chmod(dataDir, 0o755);
    ownDir = await mkdtemp(join(tmpdir(), 'vitrine-lost-'));
    database = await startEmbedded({ dataDir, log: () => {}, settings: { fsync: 'off' } });
    const password = 'a long password';
    const service = await startProcess(ownDir, {
      DATABASE_URL: urlOf(database.connection),
      VITRINE_ADMIN_USERNAME: 'root',
      VITRINE_ADMIN_PASSWORD: password,
    });
    const visitor = visit(service.address);
    await visitor.ok('login', { body: { username: 'root', password } });
    running = { service, visitor };
    await connectControl();
  });

  afterAll(async () => {
    await control.end();
    running.service.child.kill('SIGTERM');
    await running.service.exited;
    await database.stop();
    for (const directory of [dataDir, ownDir]) await rm(directory, { recursive: true, force: true });
  });

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
    if (found === null) await connectControl().catch(() => {});
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
  test('ends every connection, or loses a backend to kill -9: requests are 503 while it recovers', async () => {
    await expectSurvival(running, async () => {
      for (let round = 0; round < 2; round += 1) {
        await control.query('select pg_terminate_backend(pid) from unnest($1::integer[]) pid', [
          await backends(),
        ]);
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
      database = await startEmbedded({ dataDir, log: () => {}, settings: { fsync: 'off' } });
      await connectControl();
    });
    expect(seen.refused).toBeGreaterThan(0);
  });

  // RUN-4
  test('hangs: every request is answered within 5 s, and the service recovers', async () => {
    const stopped = processesOf(await postmasterOf(dataDir));
    const { visitor, service } = running;
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
    expect(slowest).toBeLessThan(5000);
    await until('ready again', () => isReady(running));
    await visitor.ok('listPosts');
  });

  test('is lost during an event stream, which stays open and catches up', async () => {
    const abort = new AbortController();
    const { visitor, service } = running;
    const post = await publish(visitor, [await upload(visitor, plainFile())]);
    const response = await fetch(`${service.address}/api/v1/events`, {
      headers: { cookie: `user=${visitor.cookie()}` },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    let text = '';
    let ended = false;
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
      ended = true;
    })().catch(() => {});
    await until('the first event', () => text.includes('event: '));
    text = '';
    await control.query('select pg_terminate_backend(pid) from unnest($1::integer[]) pid', [
      await backends(),
    ]);
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

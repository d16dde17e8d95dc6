import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reachableByDatabaseUser } from '../../src/platform/database/database-user.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/platform/database/embedded.ts';
import { type Visitor, visit } from '../support/client.ts';
import { urlOf } from '../support/clone.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { isAlive, postmasterOf, type ServiceProcess, startProcess } from '../support/process.ts';

const admin = { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: 'a long password' };
const base = reachableByDatabaseUser(tmpdir()) ? tmpdir() : '/var/tmp';
const directories: string[] = [];
const processes: ServiceProcess[] = [];

afterAll(async () => {
  for (const { child, exited } of processes) {
    child.kill('SIGTERM');
    await exited;
  }
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(base, 'vitrine-lost-'));
  await chmod(directory, 0o755);
  directories.push(directory);
  return directory;
}

interface Running {
  service: ServiceProcess;
  visitor: Visitor;
}

async function start(directory: string, env: Record<string, string> = {}): Promise<Running> {
  const service = await startProcess(directory, { ...admin, ...env });
  processes.push(service);
  const visitor = visit(service.address);
  await visitor.ok('login', { body: { username: 'root', password: admin.VITRINE_ADMIN_PASSWORD } });
  return { service, visitor };
}

/** The responses that clients receive while the database is disturbed. */
interface Seen {
  /** Ids of the acknowledged assets. */
  assets: string[];
  refused: number;
  /** Responses that are neither a success nor a 503 with `Retry-After`. */
  faults: string[];
}

let seeds = 0;

/** Uploads and reads continuously until stopped. */
function keepBusy({ visitor, service }: Running): { seen: Seen; stop(): Promise<void> } {
  const seen: Seen = { assets: [], refused: 0, faults: [] };
  let over = false;
  const judge = (what: string, status: number, headers: Headers, text: string) => {
    if (status === 503 && headers.has('retry-after')) seen.refused += 1;
    else if (status >= 300) seen.faults.push(`${what}: ${status} ${text}`);
    return status < 300;
  };
  const repeat = async (what: string, once: () => Promise<void>) => {
    while (!over) {
      await once().catch((error: unknown) => {
        seen.faults.push(`${what}: ${error}`);
        over = true;
      });
    }
  };
  const read = async () => {
    const { status, headers, text } = await visitor.send('/posts');
    judge('GET /posts', status, headers, text);
    await sleep(5);
  };
  const uploadOne = async () => {
    seeds += 1;
    const body = new FormData();
    body.append('file', new Blob([await jpeg(640, 480, { seed: seeds })]), 'picture.jpg');
    const { status, headers, text } = await visitor.send('/assets', { method: 'POST', body });
    if (judge('POST /assets', status, headers, text)) seen.assets.push(JSON.parse(text).id);
  };
  const ready = async () => {
    const response = await fetch(`${service.address}/readyz`);
    judge('GET /readyz', response.status, response.headers, await response.text());
    await sleep(20);
  };
  const lanes = [
    repeat('upload', uploadOne),
    repeat('upload', uploadOne),
    repeat('read', read),
    repeat('ready', ready),
  ];
  return {
    seen,
    async stop() {
      over = true;
      await Promise.all(lanes);
    },
  };
}

async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  withinMs = 30_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(50);
  }
}

async function untilRendered(visitor: Visitor, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await until(`${id} is rendered`, async () => {
      const asset = await visitor.ok('getAsset', { params: { id } });
      return !asset.restricted && asset.processing_status === 'ready' && asset.ladder_available;
    });
  }
}

async function isReady({ service }: Running): Promise<boolean> {
  return (await fetch(`${service.address}/readyz`)).status === 200;
}

/** Disturbs a busy service, and expects it to recover without losing an acknowledged write. */
async function expectSurvival(running: Running, disturb: () => Promise<void>): Promise<Seen> {
  const { seen, stop } = keepBusy(running);
  try {
    await until('some uploads', () => seen.assets.length >= 3);
    await disturb();
    await until('ready again', () => isReady(running));
    const before = seen.assets.length;
    await until('uploads again', () => seen.assets.length >= before + 3 || seen.faults.length > 0);
  } finally {
    await stop();
  }
  expect(seen.faults).toEqual([]);
  expect(running.service.child.exitCode, running.service.output()).toBe(null);
  await untilRendered(running.visitor, seen.assets);
  return seen;
}

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
    dataDir = await freshDirectory();
    database = await startEmbedded({ dataDir, log: () => {}, settings: { fsync: 'off' } });
    running = await start(await freshDirectory(), { DATABASE_URL: urlOf(database.connection) });
    await connectControl();
  });

  afterAll(async () => {
    await control.end();
    for (const { child, exited } of processes.splice(0)) {
      child.kill('SIGTERM');
      await exited;
    }
    await database.stop();
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
  test('ends every connection: the service continues and completes its jobs', async () => {
    await expectSurvival(running, async () => {
      for (let round = 0; round < 5; round += 1) {
        await control.query('select pg_terminate_backend(pid) from unnest($1::integer[]) pid', [
          await backends(),
        ]);
        await sleep(150);
      }
    });
  }, 60_000);

  // RUN-4
  test('loses a backend to kill -9: requests are 503 while it recovers', async () => {
    await expectSurvival(running, async () => {
      for (let round = 0; round < 3; round += 1) {
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
      }
    });
  }, 60_000);

  test('is restarted: requests are 503 until it is back', async () => {
    const seen = await expectSurvival(running, async () => {
      await control.end();
      await database.stop();
      expect(await isReady(running)).toBe(false);
      database = await startEmbedded({ dataDir, log: () => {}, settings: { fsync: 'off' } });
      await connectControl();
    });
    expect(seen.refused).toBeGreaterThan(0);
  }, 60_000);

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
        const first = Array.from({ length: 30 }, () => timed(visitor.send('/posts')));
        const took = await Promise.all([...first, timed(fetch(`${service.address}/readyz`))]);
        // The loss is known by now, so no request waits.
        for (let i = 0; i < 50; i += 1) took.push(await timed(visitor.send('/posts')));
        return Math.max(...took);
      } finally {
        for (const pid of stopped.reverse()) process.kill(pid, 'SIGCONT');
      }
    })();
    expect(slowest).toBeLessThan(5000);
    await expectSurvival(running, async () => {});
  }, 60_000);

  test('is lost during an event stream, which stays open and catches up', async () => {
    const abort = new AbortController();
    const { visitor, service } = running;
    const post = await publish(visitor, [await upload(visitor, await jpeg(64, 64, { seed: 1 }))]);
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
  }, 60_000);
});

describe('the embedded PostgreSQL', () => {
  test('is restarted and monitored again when its postmaster is killed', async () => {
    const directory = await freshDirectory();
    const running = await start(directory);
    const first = await postmasterOf(directory);
    await expectSurvival(running, async () => {
      process.kill(first, 'SIGKILL');
      await until(
        'another one runs',
        async () => (await postmasterOf(directory).catch(() => first)) !== first,
      );
    });
    const second = await postmasterOf(directory);
    expect(second).not.toBe(first);
    running.service.child.kill('SIGKILL');
    await running.service.exited;
    await until('it is gone with the service', () => !isAlive(second), 40_000);
  }, 120_000);
});

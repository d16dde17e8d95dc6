import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as requestHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { writeSetting } from '../../src/core/settings.ts';
import { type DatabasePool, openPool } from '../../src/platform/database/pool.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { type Visitor, visit } from '../support/client.ts';
import { cloneTemplate } from '../support/clone.ts';
import { password } from '../support/library.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import type { Install } from './installs.ts';

/** A request of one install to another, as `POST inbox Create Note`, before or after the receiver has handled it. */
export type Watch = (step: string) => Promise<void>;

/** An install in a process of its own that can be killed and started again. Its public address stays the same. */
export interface Home {
  name: string;
  /** The address for peers: a relay that observes their requests. */
  address: string;
  database: DatabasePool;
  storage: Storage;
  /** Its administrator; another one after each start. */
  root(): Visitor;
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Names a request by its path, and an envelope by its type and that of its object. */
function stepOf(method: string, path: string, body: Buffer): string {
  const what = path.replace(/\?.*$/, '').replace(/[0-9a-f]{64}/, 'HASH');
  if (!what.endsWith('/inbox')) return `${method} ${what}`;
  const envelope: { type?: string; object?: { type?: string } } = JSON.parse(body.toString());
  return `${method} inbox ${envelope.type} ${envelope.object?.type ?? ''}`.trim();
}

/** Relays requests to the current address of an install, and calls `watch` before and after each of them. */
async function openRelay(target: () => string | null, watch: Watch) {
  const relay = createServer(async (request: IncomingMessage, response) => {
    const gone = () => request.socket.destroy();
    try {
      const body = await buffer(request);
      const step = stepOf(request.method ?? '', request.url ?? '', body);
      await watch(`before ${step}`);
      const address = target();
      if (address === null) return gone();
      const { method, url: path, headers } = request;
      const onward = requestHttp(`${address}${path}`, { method, headers, agent: false });
      onward.on('error', gone);
      onward.on('response', async (answer) => {
        try {
          const bytes = await buffer(answer);
          await watch(`after ${step}`);
          response.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes);
        } catch {
          gone();
        }
      });
      onward.end(body);
    } catch {
      gone();
    }
  });
  await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done));
  const { port } = relay.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close: () => {
      relay.closeAllConnections();
      return new Promise((done) => relay.close(done));
    },
  };
}

/** Gives an install a public address at which it can be made unreachable, and at which requests are observed. */
export async function openGate(install: Install, watch: Watch = async () => {}) {
  let isCut = false;
  const { address, close } = await openRelay(() => (isCut ? null : install.address), watch);
  await writeSetting(install.database.db, 'base_url', address);
  return {
    address,
    close,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
  };
}

/** Starts an install on an empty library, with `root` as its administrator. */
export async function openHome(name: string, watch: Watch): Promise<Home> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vitrine-peer-'));
  await chmod(dataDir, 0o755);
  const clone = await cloneTemplate();
  const database = openPool(clone.settings, 2);
  let service: ServiceProcess | null = null;
  let root = visit('');
  const relay = await openRelay(() => service?.address ?? null, watch);
  await writeSetting(database.db, 'base_url', relay.address);
  await writeSetting(database.db, 'site_name', name);
  const env = {
    DATABASE_URL: clone.url,
    VITRINE_FFMPEG: 'off',
    VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on',
    VITRINE_ADMIN_USERNAME: 'root',
    VITRINE_ADMIN_PASSWORD: password,
  };
  const home: Home = {
    name,
    address: relay.address,
    database,
    storage: await openDiskStorage(join(dataDir, 'library'), 0),
    root: () => root,
    async kill() {
      const killed = service;
      if (killed === null) return;
      service = null;
      killed.child.kill('SIGKILL');
      await killed.exited;
    },
    async start() {
      const token = root.cookie();
      service = await startProcess(dataDir, env);
      root = visit(service.address, {}, token);
      if (token === undefined) await root.ok('login', { body: { username: 'root', password } });
    },
    async close() {
      await home.kill();
      await relay.close();
      await database.close();
      await clone.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  await home.start();
  return home;
}

/** Advances the clock for retries. After a crash, also for the lease and the jobs of the dead process. */
export async function passTime({ database: { db } }: Home, { crashed = false } = {}): Promise<void> {
  if (crashed) {
    await sql`update federation_peers set delivering_until = null`.execute(db);
    const dead = sql`array(select worker_id from job_workers)`;
    await sql`select graphile_worker.force_unlock_workers(${dead})`.execute(db);
  }
  await sql`update federation_outbox set next_attempt_at = now() where status = 'queued'`.execute(db);
  await sql`update graphile_worker._private_jobs set run_at = now()
    where locked_at is null and run_at > now()`.execute(db);
  await sql`select graphile_worker.add_job('keep-federation', '{}', job_key => 'keep')`.execute(db);
}

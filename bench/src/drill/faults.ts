import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place, PlaceOptions } from './place.ts';
import { fillDisk } from './small-disk.ts';

export interface Fault {
  name: string;
  what: string;
  place: PlaceOptions;
  /** True if the fault stops the service, which is then started again. Otherwise the same process must continue. */
  endsService?: boolean;
  /** What requests may end with besides 2xx: statuses, or reasons why there is none. */
  right: readonly string[];
  /** How pictures are uploaded: in one request by default. */
  uploads?: 'resumable';
  /** During the fault, each request must be answered within this many milliseconds. */
  answersWithinMs?: number;
  /** Causes the fault and resolves when it is over. */
  strike(place: Place): Promise<void>;
}

const STOPPED_MS = 9_000;
const FULL_MS = 4_000;
const GONE_MS = 6_000;
const SLOW_MS = 2_000;
const FAULTY_MS = 10_000;
const CUT_MS = 4_000;
/** After this time PostgreSQL ends sessions that do not answer its keepalives. */
const NOTICED_MS = 25_000;

/** Returns the PostgreSQL backends of the service's sessions, which serve requests and jobs. */
async function backends(place: Place): Promise<number[]> {
  const rows = await place.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return rows.map(({ pid }) => pid);
}

/** Returns the child processes of a process, read from the kernel. */
async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const children: number[] = [];
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name in parentheses may contain any character; the state and the parent follow it.
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent) children.push(Number(pid));
  }
  return children;
}

function send(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal);
    } catch (error) {
      // The process has already exited.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
}

/** All faults, in the order of the table. */
export const faults: readonly Fault[] = [
  {
    name: 'kill-backend',
    what: 'kill -9 of one PostgreSQL backend',
    right: ['503'],
    place: { database: 'embedded' },
    async strike(place) {
      const pids = await backends(place);
      send(
        [pids[Math.floor(Math.random() * pids.length)] ?? 0].filter((pid) => pid > 0),
        'SIGKILL',
      );
    },
  },
  {
    name: 'terminate-backends',
    what: 'pg_terminate_backend of every session',
    right: ['503'],
    place: { database: 'embedded' },
    async strike(place) {
      await place.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
    },
  },
  {
    name: 'kill-postmaster',
    what: 'kill -9 of the embedded postmaster',
    right: ['503'],
    place: { database: 'embedded' },
    async strike(place) {
      send([await place.postmaster()], 'SIGKILL');
    },
  },
  {
    name: 'restart-external',
    what: 'restart of an external PostgreSQL',
    right: ['503'],
    place: { database: 'external' },
    strike: (place) => place.restartDatabase(),
  },
  {
    name: 'kill-worker',
    what: 'kill -9 of a worker process',
    right: [],
    place: { database: 'embedded', worker: true },
    async strike(place) {
      const { child, ended } = place.worker();
      child.kill('SIGKILL');
      await ended;
      await place.restartWorker();
    },
  },
  {
    name: 'kill-service',
    what: 'kill -9 of the service, then a new start',
    right: ['503', 'connection refused', 'connection lost'],
    place: { database: 'embedded' },
    endsService: true,
    async strike(place) {
      const { child, ended } = place.service();
      child.kill('SIGKILL');
      await ended;
      await place.restartService();
    },
  },
  {
    name: 'full-disk',
    what: 'full disk for 4 s',
    right: ['503', '507'],
    place: { database: 'embedded', diskMegabytes: 1024 },
    async strike(place) {
      const giveBack = await fillDisk(place.dataDir);
      await sleep(FULL_MS);
      await giveBack();
    },
  },
  {
    name: 'stop-postgres',
    what: 'SIGSTOP of PostgreSQL for 9 s',
    right: ['503'],
    place: { database: 'embedded' },
    answersWithinMs: 5_000,
    async strike(place) {
      const postmaster = await place.postmaster();
      send([postmaster], 'SIGSTOP');
      const all = [postmaster, ...(await childrenOf(postmaster))];
      send(all, 'SIGSTOP');
      await sleep(STOPPED_MS);
      send(all, 'SIGCONT');
    },
  },
  {
    name: 'kill-bucket',
    what: 'kill -9 of the S3 service, gone for 6 s',
    place: { database: 'embedded', bucket: true },
    right: ['503'],
    answersWithinMs: 5_000,
    async strike(place) {
      await place.bucket().kill();
      await sleep(GONE_MS);
      await place.bucket().start();
    },
  },
  {
    name: 'slow-bucket',
    what: 'S3 answers 2 s late, for 10 s',
    place: { database: 'embedded', bucket: true },
    right: [],
    async strike(place) {
      place.bucket().setFault('slow', SLOW_MS);
      await sleep(FAULTY_MS);
      place.bucket().setFault('none');
    },
  },
  {
    name: 'failing-bucket',
    what: 'every third S3 request is 503, for 10 s',
    place: { database: 'embedded', bucket: true },
    // Each request to S3 is repeated three times, which concurrent requests can all exhaust.
    right: ['503'],
    async strike(place) {
      place.bucket().setFault('third');
      await sleep(FAULTY_MS);
      place.bucket().setFault('none');
    },
  },
  {
    name: 'cut-database',
    what: 'connections to PostgreSQL reset for 4 s',
    place: { database: 'external', relay: 'database' },
    right: ['503'],
    answersWithinMs: 5_000,
    async strike(place) {
      place.relay().cut();
      await sleep(CUT_MS);
      place.relay().restore();
    },
  },
  {
    name: 'stall-database',
    what: 'network to PostgreSQL silent for 9 s',
    place: { database: 'external', relay: 'database' },
    right: ['503'],
    answersWithinMs: 5_000,
    async strike(place) {
      place.relay().stall();
      await sleep(STOPPED_MS);
      place.relay().restore();
    },
  },
  {
    name: 'lose-database',
    what: 'connections to PostgreSQL lost without a word',
    place: { database: 'external', relay: 'database' },
    right: ['503'],
    // PostgreSQL holds the locks of lost transactions until its keepalives fail.
    answersWithinMs: NOTICED_MS + 5_000,
    async strike(place) {
      const relay = place.relay();
      relay.stall();
      relay.lose();
      // The relay's end of each connection still answers keepalives, so it has to end them.
      setTimeout(() => relay.endLost(), NOTICED_MS);
      await sleep(STOPPED_MS);
      relay.restore();
    },
  },
  {
    name: 'cut-clients',
    what: 'connections of clients reset for 4 s',
    place: { database: 'embedded', relay: 'clients' },
    right: ['connection lost'],
    uploads: 'resumable',
    async strike(place) {
      place.relay().cut();
      await sleep(CUT_MS);
      place.relay().restore();
    },
  },
];

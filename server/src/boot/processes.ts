import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, ConfigError } from '../core/config.ts';
import { answerCollections } from '../operate/metrics/siblings.ts';
import { sentence } from '../platform/language/sentence.ts';
import { type Running, startServing, startWorking, whyNotListening } from './main.ts';

/** A process that ends is replaced after this time, and after twice the previous time if it did not last. */
const REPLACE_AFTER_MS = 500;
const REPLACE_AT_MOST_AFTER_MS = 30_000;
/** A process that lived this long starts with the shortest wait again. */
const LASTING_MS = 60_000;
/** How much longer than its own limits a stopping process may take before it is killed. */
const KILL_AFTER_MS = 3000;

/** What a child tells its parent once it accepts requests. */
interface Listening {
  url: string;
}

function isListening(message: unknown): message is Listening {
  return typeof message === 'object' && message !== null && 'url' in message;
}

/** Serves in a child of `startProcesses`, on the port that it shares with the other children. */
export async function serveInChild(config: Config): Promise<Running> {
  // Nothing would replace or stop a child whose parent was killed.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const running = await startServing(config, { join: true, jobs: false, sharesPort: true });
  process.send?.({ url: running.url });
  return running;
}

/**
 * Returns the port to share, which no other program uses: with SO_REUSEPORT, another library on the same port would
 * silently get a part of the requests. Throws a ConfigError that names the setting to change.
 */
async function claimPort({ host, port }: Config): Promise<number> {
  if (process.platform !== 'linux')
    throw new ConfigError(
      sentence('VITRINE_PROCESSES needs Linux; elsewhere, start several processes behind a proxy'),
    );
  const probe = createServer().listen({ host, port });
  try {
    await once(probe, 'listening');
    const address = probe.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  } catch (error) {
    throw whyNotListening(error, { host, port });
  } finally {
    probe.close();
  }
}

/** Starts one child and resolves with its address once it accepts requests; rejects if it ends before. */
function startChild(port: number): { child: ChildProcess; listening: Promise<string> } {
  const env = { ...process.env, VITRINE_PORT: String(port) };
  const child = fork(process.argv[1] ?? '', ['serve-beside'], { env });
  const listening = new Promise<string>((resolve, reject) => {
    child.on('message', (message: unknown) => {
      if (isListening(message)) resolve(message.url);
    });
    child.once('exit', (code, signal) =>
      reject(new Error(`a serving process ended with ${code ?? signal} before it could serve`)),
    );
  });
  return { child, listening };
}

/**
 * Serves from `config.processes` children on one port, among which the kernel distributes the connections. This process
 * owns the embedded database and runs the jobs, so that they never delay a request. Children that end are replaced, and
 * end with this process (RUN-20).
 */
export async function startProcesses(config: Config): Promise<Running> {
  const port = await claimPort(config);
  const jobs = await startWorking(config, { join: false, port: null });
  const { log } = jobs.deps;
  const children = new Set<ChildProcess>();
  const { metrics } = jobs;
  const stopping = new AbortController();

  /** Starts a child, and another one when it has ended; `waited` is the wait before this one. */
  const keepServing = (waited: number): Promise<string> => {
    const { child, listening } = startChild(port);
    const began = performance.now();
    children.add(child);
    if (metrics !== null) answerCollections(child, children, metrics.registry);
    child.once('exit', (code, signal) => {
      children.delete(child);
      if (stopping.signal.aborted) return;
      const hasLasted = performance.now() - began > LASTING_MS;
      const wait = hasLasted ? REPLACE_AFTER_MS : Math.min(waited * 2, REPLACE_AT_MOST_AFTER_MS);
      log.error({ pid: child.pid, code, signal, wait }, 'a serving process ended and is replaced');
      void replace(wait);
    });
    return listening;
  };
  const replace = async (wait: number) => {
    await sleep(wait, undefined, { signal: stopping.signal }).catch(() => {});
    // If it ends early, it is replaced again.
    if (!stopping.signal.aborted) await keepServing(wait).catch(() => {});
  };
  const stopChild = async (child: ChildProcess) => {
    const ended = once(child, 'exit');
    const within = (config.drainSeconds + config.stopSeconds) * 1000 + KILL_AFTER_MS;
    const kill = setTimeout(() => child.kill('SIGKILL'), within);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(kill);
  };
  const stop = async () => {
    stopping.abort();
    await Promise.all([...children].map(stopChild));
    await jobs.stop();
  };

  const starting = Array.from({ length: config.processes }, () => keepServing(REPLACE_AFTER_MS / 2));
  try {
    const [url = null] = await Promise.all(starting);
    return { ...jobs, url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

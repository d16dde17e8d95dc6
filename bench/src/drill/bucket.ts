import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { openBucket, type TestBucket } from '../../../server/test/support/bucket.ts';

/** A bucket on an S3 service that a drill can kill. Its data survive. */
export interface DrillBucket extends TestBucket {
  kill(): Promise<void>;
  start(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts an S3 service with its data in this directory, and creates a bucket behind a proxy with faults. */
export async function startBucket(directory: string): Promise<DrillBucket> {
  await mkdir(directory);
  const port = await freePort();
  const args = [join(import.meta.dirname, 'bucket-server.ts'), String(port), directory];
  let child: ChildProcess | null = null;
  const kill = async () => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill('SIGKILL');
    await exited;
  };
  const start = async () => {
    const { PATH = '', HOME = '' } = process.env;
    const started = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH, HOME },
    });
    child = started;
    const exited = once(started, 'exit').then(([code]) => {
      throw new Error(`the S3 service ends with ${code}`);
    });
    await Promise.race([once(started.stdout, 'data'), exited]);
    // Killing it later is no failure.
    exited.catch(() => {});
  };
  await start();
  const service = {
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId: 'drill-key',
    secretAccessKey: 'drill-secret',
    stop: kill,
  };
  try {
    const bucket = await openBucket(service);
    return {
      ...bucket,
      kill,
      start,
      async close() {
        await bucket.close();
        await kill();
      },
    };
  } catch (error) {
    await kill();
    throw error;
  }
}

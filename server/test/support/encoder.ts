import { spawn } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { listen } from './listen.ts';

export interface EncoderProcess {
  address: string;
  stop(): Promise<void>;
}

const main = join(import.meta.dirname, '../../../bench/src/encoder/main.ts');

/** Starts the reference encoder as users run it, on a free port or the given one. */
export async function startEncoder(port = 0): Promise<EncoderProcess> {
  const child = spawn(process.execPath, [main, '--port', String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^encoder listening on (\S+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error('the encoder ended')));
  });
  return {
    address,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/** An encoder whose responses a test determines, to simulate faults. */
export async function startUnruly(listener: RequestListener): Promise<EncoderProcess> {
  const server = createServer(listener);
  return {
    address: `http://127.0.0.1:${await listen(server)}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

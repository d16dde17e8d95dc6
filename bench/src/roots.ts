import { chmod, mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { admin, call, openEmptyLibrary, signIn } from './empty-library.ts';
import { cacheDir } from './library.ts';
import { peakMemory } from './peak-memory.ts';
import { processorSeconds, treeProcessorSeconds } from './processor-time.ts';

/** Files that are created at the same time; a divisor of the files in a folder. */
const AT_ONCE = 1000;
/** As often as the page of roots. Each look counts the assets of the root. */
const LOOKED_EVERY_MS = 2000;

/** Creates small files, each with its own text, in folders of `perFolder`. */
async function makeFiles(folder: string, count: number, perFolder: number): Promise<void> {
  // Older than a file that may still be written to.
  const then = new Date(Date.now() - 3600 * 1000);
  for (let from = 0; from < count; from += AT_ONCE) {
    const below = join(folder, String(Math.floor(from / perFolder)).padStart(4, '0'));
    await mkdir(below, { recursive: true });
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, async (_, at) => {
        const path = join(below, `file-${from + at}.txt`);
        await writeFile(path, `This is the text of file ${from + at}.\n`);
        await utimes(path, then, then);
      }),
    );
  }
}

interface Scanned {
  state: string;
  files: number;
}

/**
 * `bench roots`: scans folders of small files left in place, first all new and then unchanged, without making previews.
 * Measures seconds, files a second, seconds of processor time and the growth of memory of the service.
 */
export async function benchRoots(count: number, perFolder: number): Promise<void> {
  await mkdir(cacheDir, { recursive: true });
  const folder = join(cacheDir, 'root');
  await rm(folder, { recursive: true, force: true });
  await makeFiles(folder, count, perFolder);
  await chmod(folder, 0o755);
  const library = await openEmptyLibrary(undefined, { VITRINE_JOBS: 'scan-root,rescan-roots' });
  try {
    const { address: url, child } = library.service;
    const pid = child.pid ?? 0;
    const cookie = await signIn(url, admin);
    const headers = { cookie, 'content-type': 'application/json' };
    const who: { ref: number } = await (await call(url, '/auth/me', { headers })).json();
    const scan = async (begin: () => Promise<unknown>, what: string) => {
      const memory = await peakMemory(pid);
      const used = async () => ({
        service: await processorSeconds(pid),
        all: await treeProcessorSeconds(pid),
      });
      const usedBefore = await used();
      const began = performance.now();
      await begin();
      let last: Scanned | undefined;
      do {
        await sleep(LOOKED_EVERY_MS);
        const list: { items: { scan: Scanned }[] } = await (
          await call(url, '/admin/roots', { headers })
        ).json();
        last = list.items[0]?.scan;
      } while (last?.state === 'waiting' || last?.state === 'running');
      const seconds = (performance.now() - began) / 1000;
      const { before, growth } = await memory();
      const usedAfter = await used();
      const node = usedAfter.service - usedBefore.service;
      const database = usedAfter.all - usedBefore.all - node;
      console.log(
        `${what}: ${last?.state}, ${last?.files} files in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second; ` +
          `processor ${node.toFixed(1)} s service, ${database.toFixed(1)} s PostgreSQL; ` +
          `memory ${before} MB, at most ${growth} MB more; load ${loadavg()[0]?.toFixed(1)}`,
      );
    };
    let id = '';
    await scan(async () => {
      const body = JSON.stringify({ path: folder, owner_ref: who.ref, sensitivity: 'org' });
      const root: { id: string } = await (
        await call(url, '/admin/roots', { method: 'POST', headers, body })
      ).json();
      id = root.id;
    }, 'first scan');
    await scan(() => call(url, `/admin/roots/${id}/scan`, { method: 'POST', headers }), 'unchanged');
  } finally {
    await library.close();
    await rm(folder, { recursive: true, force: true });
  }
}

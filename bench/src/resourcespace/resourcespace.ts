import { spawn } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmptyLibrary, openEmptyLibrary } from '../empty-library.ts';
import { cacheDir, joinDatabase, serverBin } from '../library.ts';
import { endedChildrenSeconds, residentMegabytes, treeProcessorSeconds } from '../processor-time.ts';
import { bareLoop } from './bare-loop.ts';
import { type Scaled, scaleInstallation } from './scale.ts';

const LOOKED_EVERY_MS = 200;

/** Left out: what the made-up installation has and nothing here corresponds to. */
const expectedCodes: readonly (number | null)[] = [0, 3];

/** Runs a command on a library that is being served. Returns the most memory that it had, in MB. */
async function runCommand(library: EmptyLibrary, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [serverBin, ...args], {
    env: { PATH: process.env.PATH ?? '', VITRINE_DATA: library.directory },
    stdio: 'ignore',
    cwd: cacheDir,
  });
  let most = 0;
  const looking = setInterval(() => {
    const look = (now: number) => {
      most = Math.max(most, now || 0);
    };
    void residentMegabytes(child.pid ?? 0).then(look, () => undefined);
  }, LOOKED_EVERY_MS);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearInterval(looking);
  if (!expectedCodes.includes(code)) throw new Error(`${args[0]} ended with ${code}`);
  return most;
}

/** Waits until every picture is rendered, which the service goes on with after the command. */
async function untilRendered({ directory }: EmptyLibrary): Promise<number> {
  const { pool, close } = joinDatabase(directory);
  try {
    for (;;) {
      const { rows } = await pool.query<{ assets: number; waiting: number }>(
        "select count(*)::int as assets, count(*) filter (where processing_status = 'pending')::int as waiting from assets",
      );
      if (rows[0]?.waiting === 0) return rows[0].assets;
      await sleep(LOOKED_EVERY_MS);
    }
  } finally {
    await close();
  }
}

/** Measures what something takes of the clock, and of the processors by the command, the service and PostgreSQL. */
async function measured(library: EmptyLibrary, work: () => Promise<void>) {
  const pidFile = await readFile(join(library.directory, 'postgres/postmaster.pid'), 'utf8');
  const postmaster = Number(pidFile.split('\n')[0]);
  const used = async () => {
    const all = await treeProcessorSeconds(library.service.child.pid ?? 0);
    const database = await treeProcessorSeconds(postmaster);
    return { command: await endedChildrenSeconds(), service: all - database, database };
  };
  const before = await used();
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  const after = await used();
  const text =
    `processor ${(after.command - before.command).toFixed(1)} s command, ${(after.service - before.service).toFixed(1)} s service, ` +
    `${(after.database - before.database).toFixed(1)} s PostgreSQL; load ${loadavg()[0]?.toFixed(1)}`;
  return { seconds, text };
}

async function benchDryRun(library: EmptyLibrary, { resources, options }: Scaled): Promise<void> {
  let memory = 0;
  const { seconds, text } = await measured(library, async () => {
    memory = await runCommand(library, ['import-resourcespace', ...options, '--dry-run']);
  });
  console.log(
    `dry run of ${resources} resources: ${seconds.toFixed(1)} s; memory ${memory.toFixed(0)} MB; ${text}`,
  );
}

async function benchImport(library: EmptyLibrary, { resources, options, files }: Scaled): Promise<void> {
  const bare = await bareLoop(files);
  const bareRate = resources / bare.seconds;
  console.log(
    `bare loop: ${bare.seconds.toFixed(1)} s, ${bareRate.toFixed(1)} resources a second, ${bare.rendered} pictures; ` +
      `processor ${bare.processorSeconds.toFixed(1)} s; load ${loadavg()[0]?.toFixed(1)}`,
  );
  let memory = 0;
  let commandSeconds = 0;
  let assets = 0;
  const { seconds, text } = await measured(library, async () => {
    const began = performance.now();
    memory = await runCommand(library, ['import-resourcespace', ...options]);
    commandSeconds = (performance.now() - began) / 1000;
    assets = await untilRendered(library);
  });
  const rate = resources / seconds;
  console.log(
    `import: ${seconds.toFixed(1)} s until all ${assets} assets are rendered (${commandSeconds.toFixed(1)} s the command), ` +
      `${rate.toFixed(1)} resources a second, ratio ${(rate / bareRate).toFixed(2)}; memory ${memory.toFixed(0)} MB; ${text}`,
  );
}

/**
 * `bench resourcespace`: a dry run and an import of a ResourceSpace with this many resources, and the resources a second of the
 * import against a bare loop that hashes and renders the same files.
 */
export async function benchResourceSpace(resources: number): Promise<void> {
  await mkdir(cacheDir, { recursive: true });
  const scaled = await scaleInstallation(resources);
  const library = await openEmptyLibrary();
  try {
    await benchDryRun(library, scaled);
    await benchImport(library, scaled);
  } finally {
    await library.close();
    await scaled.remove();
  }
}

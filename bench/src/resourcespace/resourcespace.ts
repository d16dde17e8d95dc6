import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmptyLibrary, openEmptyLibrary } from '../empty-library.ts';
import { cacheDir, joinDatabase, serverBin } from '../library.ts';
import { sampleMemory } from '../peak-memory.ts';
import { postmasterOf } from '../postmaster.ts';
import { endedChildrenSeconds, treeProcessorSeconds } from '../processor-time.ts';
import { type BareLoop, bareLoop, bareLoopOfTexts } from './bare-loop.ts';
import { type Scaled, scaleInstallation } from './scale.ts';

const POLLED_EVERY_MS = 200;

/** 3: Vitrine has no counterpart for some parts of the made-up installation, which the import leaves out. */
const expectedCodes: readonly (number | null)[] = [0, 3];

/** Runs a command on the library of a running service. Returns its peak memory in MB. */
async function runCommand(library: EmptyLibrary, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [serverBin, ...args], {
    env: { PATH: process.env.PATH ?? '', VITRINE_DATA: library.directory },
    stdio: 'ignore',
    cwd: cacheDir,
  });
  const stopSampling = sampleMemory(child.pid ?? 0);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  const most = stopSampling();
  if (!expectedCodes.includes(code)) throw new Error(`${args[0]} ended with ${code}`);
  return most;
}

/** Waits until nothing is counted as `waiting` any more. Returns the number of assets. */
async function untilNone({ directory }: EmptyLibrary, waiting: string): Promise<number> {
  const { pool, close } = joinDatabase(directory);
  try {
    for (;;) {
      const { rows } = await pool.query<{ assets: number; waiting: number }>(
        `select (select count(*)::int from assets) as assets, (select count(*)::int from ${waiting}) as waiting`,
      );
      if (rows[0]?.waiting === 0) return rows[0].assets;
      await sleep(POLLED_EVERY_MS);
    }
  } finally {
    await close();
  }
}

/** What the service goes on with after the command: renditions, and then metadata. */
const unrendered = "assets where processing_status = 'pending'";
const unread = "graphile_worker.jobs where task_identifier = 'extract'";

/** Measures the seconds that work takes, and the processor time of the command, the service and PostgreSQL meanwhile. */
async function measured(library: EmptyLibrary, work: () => Promise<void>) {
  const postmaster = await postmasterOf(library.directory);
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
  const total = Object.values(after).reduce((sum, one) => sum + one, 0);
  const processorSeconds = total - Object.values(before).reduce((sum, one) => sum + one, 0);
  const text =
    `processor ${(after.command - before.command).toFixed(1)} s command, ${(after.service - before.service).toFixed(1)} s service, ` +
    `${(after.database - before.database).toFixed(1)} s PostgreSQL; load ${loadavg()[0]?.toFixed(1)}`;
  return { seconds, processorSeconds, text };
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

/** Runs the reference without and with the texts that the import renders in place of missing files. */
async function runBareLoops({ resources, files, texts }: Scaled) {
  const pictures = await bareLoop(files);
  const ofTexts = await bareLoopOfTexts(texts);
  const both = {
    seconds: pictures.seconds + ofTexts.seconds,
    processorSeconds: pictures.processorSeconds + ofTexts.processorSeconds,
  };
  const described = ({ seconds, processorSeconds }: BareLoop) =>
    `${seconds.toFixed(1)} s, ${(resources / seconds).toFixed(1)} resources a second, processor ${processorSeconds.toFixed(1)} s`;
  console.log(`bare loop, ${pictures.rendered} pictures: ${described(pictures)}`);
  console.log(`the same and ${texts} texts: ${described(both)}; load ${loadavg()[0]?.toFixed(1)}`);
  return { pictures, both };
}

async function benchImport(library: EmptyLibrary, scaled: Scaled): Promise<void> {
  const { resources, options } = scaled;
  const { pictures, both } = await runBareLoops(scaled);
  let memory = 0;
  let commandSeconds = 0;
  let assets = 0;
  const { seconds, processorSeconds, text } = await measured(library, async () => {
    const began = performance.now();
    memory = await runCommand(library, ['import-resourcespace', ...options]);
    commandSeconds = (performance.now() - began) / 1000;
    assets = await untilNone(library, unrendered);
  });
  const ratioTo = (bare: BareLoop) =>
    `${(bare.seconds / seconds).toFixed(2)} (${(bare.processorSeconds / processorSeconds).toFixed(2)} by processor time)`;
  console.log(
    `import: ${seconds.toFixed(1)} s until all ${assets} assets are rendered (${commandSeconds.toFixed(1)} s the command), ` +
      `${(resources / seconds).toFixed(1)} resources a second, ratio ${ratioTo(both)}, without texts ${ratioTo(pictures)}; ` +
      `memory ${memory.toFixed(0)} MB; ${text}`,
  );
  const rest = await measured(library, async () => {
    await untilNone(library, unread);
  });
  console.log(`until all metadata is read: ${rest.seconds.toFixed(1)} s more; ${rest.text}`);
}

/**
 * `bench resourcespace`: a dry run and an import of a ResourceSpace with this many resources, and the resources a second of the
 * import against a bare loop that hashes and renders the same files, with and without the texts in place of missing ones.
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

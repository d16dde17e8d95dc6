import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../../../src/core/deps.ts';
import { importImmichCommand } from '../../../src/operate/immich/command.ts';
import type { Library } from '../../support/library.ts';
import { runCommand } from '../command-parts.ts';
import { key } from './immich-server.ts';

/** Runs the command on a library that is being served. */
export function runImport(
  library: Library,
  args: readonly string[],
  onDeps?: (deps: Deps) => Deps,
  apiKey: string | undefined = key,
) {
  const patience = { silenceMs: 1500, pausesMs: [1] };
  return runCommand(
    library,
    (config, parts) => importImmichCommand(config, [...args], { ...parts, apiKey, patience }),
    onDeps,
  );
}

/** Runs the command and reads its report. */
export async function importAndReport(library: Library, url: string, onDeps?: (deps: Deps) => Deps) {
  const path = join(library.config.dataDir, 'report.json');
  const { code, out } = await runImport(library, [url, '--report', path], onDeps);
  const report = JSON.parse(await readFile(path, 'utf8'));
  return { code, out, report };
}

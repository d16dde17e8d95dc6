import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importImmichCommand } from '../../../src/operate/immich/command.ts';
import type { Visitor } from '../../support/client.ts';
import type { Library } from '../../support/library.ts';
import { runCommand } from '../command-parts.ts';
import { key } from './immich-server.ts';

/** Runs the command on a library that is being served. */
export function runImport(library: Library, args: readonly string[], apiKey: string = key) {
  const patience = { silenceMs: 1500, pausesMs: [1] };
  return runCommand(library, (config, parts) =>
    importImmichCommand(config, [...args], { ...parts, apiKey, patience }),
  );
}

/** Runs the command and reads its report. */
export async function importAndReport(library: Library, url: string) {
  const path = join(library.config.dataDir, 'report.json');
  const { code, out } = await runImport(library, [url, '--report', path]);
  const report = JSON.parse(await readFile(path, 'utf8'));
  return { code, out, report };
}

/** Returns the id in the library of an object of Immich. */
export async function importedId({ deps: { db } }: Library, old: string, kind = 'resource'): Promise<string> {
  const { target } = await db
    .selectFrom('imported_ids')
    .select('target')
    .where('system', '=', 'immich')
    .where('kind', '=', kind)
    .where('old_id', '=', old)
    .executeTakeFirstOrThrow();
  return target;
}

/** Returns the asset of a file of Immich. */
export async function importedAsset(library: Library, administrator: Visitor, old: string) {
  const asset = await administrator.ok('getAsset', { params: { id: await importedId(library, old) } });
  if (asset.restricted) throw new Error('an administrator is shown every asset');
  return asset;
}

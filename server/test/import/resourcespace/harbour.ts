import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError, readConfig } from '../../../src/core/config.ts';
import type { Deps } from '../../../src/core/deps.ts';
import { importResourceSpaceCommand } from '../../../src/operate/resourcespace/command.ts';
import type { Library } from '../../support/library.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A ResourceSpace with made-up content: its dump, its files, its settings, and what it answers about itself. */
export interface Harbour {
  directory: string;
  dump: string;
  // The answers of another system; tests read them as they need.
  // biome-ignore lint/suspicious/noExplicitAny: the oracle has no schema
  expected: any;
}

/** Unpacks the installation into a temporary directory. */
export async function unpackHarbour(): Promise<Harbour> {
  const directory = await temporaryDirectory();
  const archive = process.env.RESOURCESPACE_ARCHIVE ?? join(import.meta.dirname, 'harbour.tar.gz');
  await promisify(execFile)('tar', ['-xzf', archive, '-C', directory]);
  const expected = JSON.parse(await readFile(join(directory, 'expected.json'), 'utf8'));
  return { directory, dump: join(directory, 'dump.sql'), expected };
}

/** Runs the command on a library that is being served. */
export async function runImport(
  library: Library,
  args: readonly string[],
  onDeps: (deps: Deps) => Deps = (deps) => deps,
) {
  const lines: string[] = [];
  const output = { log: (line: string) => lines.push(line), error: (line: string) => lines.push(line) };
  const env = {
    VITRINE_DATA: library.config.dataDir,
    DATABASE_URL: library.databaseUrl,
    VITRINE_RESERVE_BYTES: '0',
  };
  const config = readConfig(env, library.config.dataDir);
  const keptOpen = async () => {};
  const { decoders, metadata } = library.deps;
  // The library goes on with them.
  const deps = onDeps({
    ...library.deps,
    ladder: library.deps.ladder,
    decoders: { ...decoders, close: keptOpen },
    metadata: { ...metadata, close: keptOpen },
  });
  const code = await importResourceSpaceCommand(config, [...args], {
    mysqlPassword: undefined,
    output,
    openDeps: async () => deps,
    startWorker: async () => ({ stop: keptOpen }),
  }).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    output.error(error.message);
    return 1;
  });
  return { code, out: lines.join('\n') };
}

/** The options that name the parts of the installation. */
export function optionsFor({ directory, dump }: Harbour): string[] {
  return [
    ...['--dump', dump, '--filestore', join(directory, 'filestore'), '--syncdir', join(directory, 'syncdir')],
    ...['--config', join(directory, 'config.json')],
  ];
}

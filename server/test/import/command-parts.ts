import { ConfigError, readConfig } from '../../src/core/config.ts';
import type { Deps } from '../../src/core/deps.ts';
import type { ImportParts } from '../../src/operate/imports/perform.ts';
import type { Library } from '../support/library.ts';

/**
 * Runs a command of an import on a library that is being served. Returns its exit code and what it printed. Jobs render what it
 * imports, unless `onDeps` brings decoders that render it before.
 */
export async function runCommand(
  library: Library,
  command: (config: ReturnType<typeof readConfig>, parts: ImportParts) => Promise<number>,
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
    decoders: { ...decoders, run: () => Promise.reject(new Error('jobs render')), close: keptOpen },
    metadata: { ...metadata, close: keptOpen },
  });
  const parts = {
    output,
    openDeps: async () => deps,
    startWorker: async () => ({ stop: keptOpen }),
  };
  const code = await command(config, parts).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    output.error(error.message);
    return 1;
  });
  return { code, out: lines.join('\n') };
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** Reads `vitrine.env` in the working directory; the environment takes precedence. */
export function collectSettings(
  env: NodeJS.ProcessEnv,
  directory: string,
  refusal: (reason: Sentence) => Error,
): Record<string, string | undefined> {
  const file = join(directory, 'vitrine.env');
  const text = existsSync(file) ? readFileSync(file, 'utf8').replace(/^\uFEFF/, '') : '';
  // The parser ignores lines without `=`, so refuse them: the operator would believe that the setting applies.
  const half = /^[ \t]*(?:export[ \t]+)?((?:VITRINE_|DATABASE_URL)\w*)[^=\r\n]*$/m.exec(text)?.[1];
  if (half !== undefined)
    throw refusal(
      sentence('{name} in vitrine.env has no {sign} and a value after its name', { name: half, sign: '"="' }),
    );
  return { ...parseEnv(text), ...env };
}

/** Returns whether a directory is the data directory of a library. */
function isDataDirectory(directory: string): boolean {
  return existsSync(join(directory, 'library', 'incoming'));
}

/**
 * The default data directory: the working directory if it is one, else `./data`, or as root `/var/lib/vitrine` when others
 * cannot reach the working directory. `reachable` returns whether the database's user can enter a directory.
 */
export function defaultDataDir(directory: string, reachable: (dir: string) => boolean): string {
  if (isDataDirectory(directory)) return directory;
  const isRoot = process.getuid?.() === 0;
  return isRoot && !reachable(directory) ? '/var/lib/vitrine' : join(directory, 'data');
}

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { languages } from '@vitrine/contract/languages';
import { expect, test } from 'vitest';
import { helpFor } from '../../src/operate/usage.ts';
import { languageOfCommands } from '../../src/platform/language/command-line.ts';
import { spawnVitrine, startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

// LANGUAGE-7
test.each([
  [{ LC_ALL: 'de_AT.UTF-8', LANG: 'fr_FR.UTF-8' }, 'de'],
  [{ LC_ALL: '', LC_MESSAGES: 'ja_JP', LANG: 'fr_FR' }, 'ja'],
  [{ LANG: 'zh_CN.UTF-8' }, 'zh-Hans'],
  [{ LANG: 'pt_PT@euro' }, 'pt-BR'],
  [{ LC_ALL: 'C.UTF-8', LANG: 'de_DE' }, 'en'],
  [{ LANG: 'POSIX' }, 'en'],
  [{ LANG: 'sv_SE' }, 'en'],
  [{}, 'en'],
])('commands with the locale %o print in %s', (env, language) => {
  expect(languageOfCommands(env)).toBe(language);
});

// LANGUAGE-7
test('helps in every language, with the same commands and options', () => {
  const names = (text: string | null) => text?.match(/--[a-z-]+|vitrine [a-z-]+/g)?.toSorted();
  for (const args of [
    ['import', '--help'],
    ['import-resourcespace', '--help'],
    ['doctor', '--help'],
  ]) {
    const english = names(helpFor(args, 'en'));
    expect(english?.length).toBeGreaterThan(2);
    for (const language of languages) expect(names(helpFor(args, language))).toEqual(english);
  }
});

// LANGUAGE-7
test('prints what a command does in the language of the locale or of an option', async () => {
  const directory = await temporaryDirectory();
  const german = await spawnVitrine(directory, ['doctor'], { LANG: 'de_DE.UTF-8' }).ended;
  expect(german).toEqual({
    code: 1,
    said: `in ${directory} ist keine Bibliothek; setzen Sie VITRINE_DATA auf ihren Ort`,
  });
  const half = { VITRINE_DATABASE_POOLING: 'transaction', LANG: 'de_DE.UTF-8' };
  expect(await spawnVitrine(directory, ['start'], half).ended).toEqual({
    code: 1,
    said: 'VITRINE_DATABASE_POOLING=transaction und VITRINE_DATABASE_DIRECT_URL gehören zusammen: setzen Sie beide oder keines',
  });
  const arabic = await spawnVitrine(directory, ['export', '--nothing', '--lang', 'ar']).ended;
  // A value keeps its own direction within a text from right to left.
  expect(arabic).toEqual({ code: 1, said: 'خيار غير معروف \u2068--nothing\u2069' });
  const unknown = await spawnVitrine(directory, ['--lang=tlh', 'help'], { LANG: 'de_DE.UTF-8' }).ended;
  expect(unknown).toEqual({ code: 1, said: expect.stringMatching(/^--lang tlh: Texte gibt es in en, de/) });
});

// LANGUAGE-7
test('prints the address in English, for scripts that wait for it, and what else it says in the language', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'shoot'));
  await writeFile(join(directory, 'shoot', 'note.txt'), 'Take the sharp one.');
  const service = await startProcess(directory, {
    VITRINE_ADMIN_USERNAME: 'mara',
    VITRINE_ADMIN_PASSWORD: 'a long password of Mara',
    LANG: 'fr_FR.UTF-8',
  });
  expect(service.output()).toContain(`la bibliothèque est dans ${directory}`);
  const dry = await spawnVitrine(directory, ['import', 'shoot', '--dry-run', '--lang', 'de']).ended;
  service.child.kill('SIGTERM');
  await service.exited;
  expect(dry).toEqual({
    code: 0,
    said: expect.stringMatching(/^1 Datei würde importiert, 0 schon vorhanden/),
  });
});

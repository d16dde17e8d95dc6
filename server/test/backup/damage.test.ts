import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Config } from '../../src/core/config.ts';
import { backupCommand, restoreCommand } from '../../src/operate/backup/command.ts';
import { fileName } from '../../src/operate/backup/manifest.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { originalKey, renditionKey } from '../../src/platform/storage/object-key.ts';
import { urlOf } from '../support/clone.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { filesOf, newMachine, rowsOf, scratchDirectory, settingsOfMachine } from './kit.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const kept = await upload(root, plainText('kept'), {}, 'kept.txt');
const picture = await upload(root, await jpeg(400, 300));
await library.runJobs();
const config = { ...library.config, databaseUrl: library.databaseUrl };

async function run(command: typeof backupCommand, args: string[], own: Config = config) {
  const lines: string[] = [];
  const code = await command(own, args, (line) => lines.push(line));
  return { code, out: lines.join('\n') };
}

/** Changes one bit in the middle of a file. */
async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  await writeFile(path, bytes);
}

const pathIn = (directory: string, hash: string | null) => join(directory, fileName(hash ?? ''));

async function emptyTarget() {
  const machine = await newMachine();
  const databaseUrl = urlOf(settingsOfMachine(machine));
  const { secretKey } = library.deps;
  return { machine, own: { ...config, databaseUrl, dataDir: await scratchDirectory(), secretKey } };
}

// RUN-32
test('a restore with --skip-damaged restores everything else, lists what is missing and exits with 2', async () => {
  const directory = await scratchDirectory();
  expect((await run(backupCommand, [directory])).code).toBe(0);
  await flipBit(pathIn(directory, picture.file_hash));
  const { machine, own } = await emptyTarget();
  const refused = await run(restoreCommand, [directory], own);
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('--skip-damaged') });
  expect((await machine.pool.query("select to_regclass('users') as found")).rows).toEqual([{ found: null }]);

  // LANGUAGE-7
  const german = await run(backupCommand, ['verify', directory], { ...config, language: 'de' });
  expect(german.out).toMatch(
    /^BESCHÄDIGT .*: die Prüfsumme stimmt nicht\nSicherung \S+ ist an 1 Stelle beschädigt;/,
  );

  const { code, out } = await run(restoreCommand, [directory, '--skip-damaged'], own);
  expect(code).toBe(2);
  const key = originalKey(picture.file_hash ?? '');
  expect(out).toMatch(new RegExp(`^MISSING  ${key}: damaged in the backup$`, 'm'));
  expect(out).toContain('1 file is missing');
  expect(await rowsOf(machine.pool)).toEqual(await rowsOf(library.database.pool));
  const { [key]: missing, ...rest } = await filesOf(library.deps.storage);
  expect(missing).toBeDefined();
  expect(await filesOf(await openDiskStorage(join(own.dataDir, 'library'), 0))).toEqual(rest);

  // What rows need cannot be left out.
  const { out: verified } = await run(backupCommand, ['list', directory]);
  await rm(join(directory, 'backups', verified.split(' ')[0] ?? '', 'tables/users'));
  const { own: another } = await emptyTarget();
  expect(await run(restoreCommand, [directory, '--skip-damaged'], another)).toMatchObject({
    code: 1,
    out: expect.stringContaining('restore another backup with --at'),
  });
});

// RUN-15
test('a restore into a library that is not empty is refused before the backup is verified', async () => {
  const directory = await scratchDirectory();
  await run(backupCommand, [directory]);
  await flipBit(pathIn(directory, kept.file_hash));
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  await expect(restoreCommand(config, [directory], print)).rejects.toThrow('this library is not empty');
  const { own } = await emptyTarget();
  await expect(restoreCommand({ ...own, dataDir: config.dataDir }, [directory], print)).rejects.toThrow(
    'there are files in the library already',
  );
  expect(lines).toEqual([]);
  // A damaged backup leaves no database behind in an empty directory.
  const embedded: Config = { ...config, databaseUrl: null, dataDir: await scratchDirectory() };
  expect((await run(restoreCommand, [directory], embedded)).code).toBe(1);
  expect(existsSync(join(embedded.dataDir, 'postgres'))).toBe(false);
});

// RUN-33
test('a backup reads older files again, and copies damaged ones once more if the library has them', async () => {
  const directory = await scratchDirectory();
  expect((await run(backupCommand, [directory])).out).not.toContain('verified again');
  const again = await run(backupCommand, [directory]);
  expect(again.out).toMatch(/^verified again: [1-9]\d* older files of .*, 0 damaged$/m);

  const preview = renditionKey(picture.file_hash ?? '', 'col.webp');
  const { [preview]: previewHash } = await filesOf(library.deps.storage);
  const damaged = [kept.file_hash, picture.file_hash, previewHash ?? ''];
  for (const hash of damaged) await flipBit(pathIn(directory, hash));
  await rm(objectPath(library, originalKey(kept.file_hash ?? '')));
  const { code, out } = await run(backupCommand, [directory]);
  expect(code).toBe(2);
  expect(out).toMatch(new RegExp(`^DAMAGED  ${originalKey(picture.file_hash ?? '')}: `, 'm'));
  expect(out).toMatch(new RegExp(`^DAMAGED  ${preview}: `, 'm'));
  expect(out).toMatch(/3 damaged$/m);
  expect(out).toContain(`lost: ${originalKey(kept.file_hash ?? '')}: it is missing`);
  expect(await run(backupCommand, ['verify', directory])).toMatchObject({ code: 0 });

  await upload(root, plainText('kept'), {}, 'kept.txt');
});

// RUN-34
test('the time of the last backup is a metric and a finding of the doctor, which warns of an old one', async () => {
  const directory = await scratchDirectory();
  await run(backupCommand, [directory]);
  const finding = async () =>
    (await root.ok('getDoctor')).checks.find(({ code }) => code === 'backup') ?? null;
  expect(await finding()).toMatchObject({ status: 'ok' });
  await sql`update settings set value = jsonb_set(value, '{at}', '"2026-01-01T00:00:00Z"') where key = 'last_backup'`.execute(
    library.deps.db,
  );
  expect(await finding()).toMatchObject({
    status: 'warning',
    remedy: expect.stringContaining('vitrine backup'),
  });
  await sql`delete from settings where key = 'last_backup'`.execute(library.deps.db);
  expect(await finding()).toMatchObject({ status: 'warning', detail: expect.stringContaining('no backup') });
});

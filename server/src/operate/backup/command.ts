import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Config, ConfigError } from '../../core/config.ts';
import { readKeyOf } from '../../people/identity/secret-key.ts';
import { type OpenDatabase, openDatabase } from '../../platform/database/open.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { readVersion } from '../../platform/version.ts';
import { enterEmptyPlace, enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { openLibraryStorage } from '../storage/open.ts';
import type { CopyProgress, Recheck } from './copy-files.ts';
import { createBackup } from './create.ts';
import { readStoredKey, requireLibrary } from './dump.ts';
import { listBackups, type Manifest, readManifest } from './manifest.ts';
import { openPlace } from './place.ts';
import { openRepository, type Repository } from './repository.ts';
import { requireEmpty, requireKnownVersion, restoreBackup } from './restore.ts';
import { checkKey, type LostSecrets } from './restore-key.ts';
import { type Damage, findBackup, verify } from './verify.ts';

const PROGRESS_EVERY_MS = 2000;
/** How many names of one kind are printed. */
const NAMED = 20;

type Print = (line: string) => void;

const options = {
  keep: { type: 'string' },
  'key-file': { type: 'string' },
  at: { type: 'string' },
  data: { type: 'string' },
  'skip-damaged': { type: 'boolean' },
} as const;
type OptionName = keyof typeof options;

function parse(args: string[], allowed: readonly OptionName[]) {
  const { values, positionals } = readOptions({ args, allowPositionals: true, options });
  const wrong = Object.keys(values).find((name) => !allowed.some((option) => option === name));
  if (wrong !== undefined)
    throw new ConfigError(sentence('{option} cannot be used with this command', { option: `--${wrong}` }));
  return { values, positionals };
}

/** Returns the only positional argument. */
function onlyDirectory(positionals: string[], usage: string): string {
  const [directory, more] = positionals;
  if (directory === undefined || more !== undefined)
    throw new ConfigError(sentence('name a directory: {command}', { command: usage }));
  return directory;
}

/** Returns the passphrase from a key file or the setting; null without either. */
async function readPassphrase(config: Config, keyFile: string | undefined): Promise<string | null> {
  if (keyFile === undefined) return config.backupPassphrase;
  const text = await readFile(keyFile, 'utf8').catch((error: unknown) => {
    throw new ConfigError(`cannot read the key file: ${error instanceof Error ? error.message : error}`);
  });
  return text.trim();
}

function readKeep(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new ConfigError(`--keep takes a number from 1 on, not ${text}`);
  return Number(text);
}

function size(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${at === 0 ? bytes : (bytes / 1000 ** at).toFixed(1)} ${units[at]}`;
}

/** Prints the progress every two seconds. */
function reporting(verb: string, total: number | null): (done: CopyProgress) => void {
  let lastPrintedAt = Date.now();
  return ({ files, bytes }) => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    console.error(`${verb} ${files}${total === null ? '' : ` of ${total}`} files, ${size(bytes)}`);
  };
}

/** Prints which files are missing from the library, and which secrets the backup does not contain. */
function printRemarks({ lost, hasOwnScrambleKey }: Manifest, print: Print): void {
  for (const { key, reason } of lost.first) print(`  lost: ${key}: ${reason}`);
  if (hasOwnScrambleKey)
    print('Passwords need the VITRINE_SCRAMBLE_KEY of this library; keep it with the backup.');
}

/** Prints that a backup does not contain the secret key. */
function printKeyRemark({ secretKey }: Manifest, print: Print): void {
  if (secretKey === undefined)
    print(
      'The secret key is among the rows of this backup, which an earlier version made: keep the backup as secret as the key, or replace the key with vitrine secret rotate.',
    );
  if (secretKey !== null) return;
  print(
    'The secret key (secret.key or VITRINE_SECRET_KEY) is not in the backup: keep a copy elsewhere. Without it, second factors, the mail server and connections to other libraries have to be set up again.',
  );
}

/** Lists names, up to a number that an operator reads. */
function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Prints which secrets have to be entered again, and what the library does until then (RUN-42). */
function printLost({ accounts, hadMail, peers, actors }: LostSecrets, print: Print): void {
  print(
    'The secret key of the library in the backup is missing. These secrets are lost, unless you restore again with it as VITRINE_SECRET_KEY:',
  );
  if (accounts.length > 0)
    print(
      `  second factors of ${named(accounts)}: removed; they sign in with the password alone until they set up another`,
    );
  if (hadMail) print('  the mail server and its password: removed; enter them again to send mail');
  if (peers.length > 0)
    print(
      `  the key of this library and the keys of its people: replaced; the connections to ${named(peers)} are off. Remove them on both sides and connect again`,
    );
  if (actors > 0) print(`  the keys of ${actors} people who are followed with ActivityPub: replaced`);
  if (accounts.length + peers.length + actors === 0 && !hadMail) print('  none');
}

/** Prints which older files were read again; damaged ones have been copied again, unless they are among the lost. */
function printRecheck({ files, bytes, damaged }: Recheck, print: Print): void {
  if (files === 0) return;
  for (const { key, reason } of damaged)
    print(`DAMAGED  ${key}: ${reason}; copied again if the library has it`);
  print(`verified again: ${files} older files of ${size(bytes)}, ${damaged.length} damaged`);
}

/** Returns the key of the library, also after a rotation that was interrupted; null if it is not here. */
async function readKnownKey(config: Config, pool: OpenDatabase['pool']): Promise<string | null> {
  const stored = await readStoredKey(pool);
  if (stored === null || typeof stored === 'string') return null;
  return (await readKeyOf(stored, config))?.key ?? null;
}

async function backUp(config: Config, args: string[], print: Print): Promise<number> {
  const { values, positionals } = parse(args, ['keep', 'key-file']);
  const directory = onlyDirectory(positionals, 'vitrine backup DIR');
  const keep = readKeep(values.keep);
  const passphrase = await readPassphrase(config, values['key-file']);
  enterLibrary(config);
  const target = await openPlace(config, directory, true);
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  try {
    await requireLibrary(database.pool);
    const { manifest, added, removed, rechecked, isRecorded } = await createBackup(
      database.pool,
      await openLibraryStorage(config),
      target,
      {
        version: readVersion(),
        passphrase,
        secretKey: await readKnownKey(config, database.pool),
        keep,
        now: new Date(),
        progress: reporting('copied', null),
      },
    );
    const { id, tables, files, lost } = manifest;
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    print(
      `backup ${id}: ${rows} rows, ${files.count} files of ${size(files.bytes)}; new: ${added.files} files of ${size(added.bytes)}`,
    );
    if (removed.length > 0) print(`removed: ${removed.join(', ')}`);
    printRecheck(rechecked, print);
    printRemarks(manifest, print);
    printKeyRemark(manifest, print);
    if (!isRecorded)
      print('The database could not store the time of this backup, which metrics and doctor show.');
    if (lost.count > 0)
      print(`${lost.count} files could not be copied; vitrine doctor --bytes says whose they are`);
    return lost.count > 0 ? 2 : 0;
  } finally {
    await database.close();
  }
}

async function openExisting(
  config: Config,
  directory: string,
  keyFile: string | undefined,
): Promise<Repository> {
  const passphrase = await readPassphrase(config, keyFile);
  return openRepository(await openPlace(config, directory, false), passphrase);
}

async function list(config: Config, args: string[], print: Print): Promise<number> {
  const { values, positionals } = parse(args, ['key-file']);
  const directory = onlyDirectory(positionals, 'vitrine backup list DIR');
  const repository = await openExisting(config, directory, values['key-file']);
  for (const id of (await listBackups(repository)).complete) {
    const { files, version, lost } = await readManifest(repository, id);
    const damage = lost.count === 0 ? '' : `, ${lost.count} lost`;
    print(`${id}  Vitrine ${version}, ${files.count} files of ${size(files.bytes)}${damage}`);
  }
  return 0;
}

/** Prints and returns each fault of a backup. */
async function printDamage(repository: Repository, manifest: Manifest, print: Print): Promise<Damage[]> {
  const found: Damage[] = [];
  for await (const damage of verify(repository, manifest)) {
    print(`DAMAGED  ${damage.reason}`);
    found.push(damage);
  }
  return found;
}

async function verifyOne(config: Config, args: string[], print: Print): Promise<number> {
  const { values, positionals } = parse(args, ['key-file', 'at']);
  const directory = onlyDirectory(positionals, 'vitrine backup verify DIR');
  const repository = await openExisting(config, directory, values['key-file']);
  const manifest = await findBackup(repository, values.at ?? null);
  const { length: damaged } = await printDamage(repository, manifest, print);
  const { id, files } = manifest;
  if (damaged > 0) {
    print(
      `backup ${id} is damaged in ${damaged} places; remove the named files, and the next backup copies them again`,
    );
    return 1;
  }
  print(`backup ${id} is complete: ${files.count} files of ${size(files.bytes)}`);
  printRemarks(manifest, print);
  printKeyRemark(manifest, print);
  return 0;
}

/**
 * `vitrine backup DIR [--keep N] [--key-file FILE]`, `vitrine backup list DIR`, `vitrine backup verify DIR [--at ID]`.
 * Returns the exit code: 1 when a backup is damaged, 2 when files could not be copied.
 */
export async function backupCommand(config: Config, args: string[], print: Print): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === 'list') return list(config, rest, print);
  if (verb === 'verify') return verifyOne(config, rest, print);
  return backUp(config, args, print);
}

/** Throws unless a library can be restored there. Does not create the embedded database (RUN-15). */
async function requireEmptyTarget(config: Config): Promise<void> {
  const storage = await openLibraryStorage(config);
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres'))) {
    return requireEmpty(null, storage);
  }
  const database = await openDatabase(config, { join: false, migrate: false, log: () => {} });
  try {
    await requireEmpty(database.pool, storage);
  } finally {
    await database.close();
  }
}

/** Returns the keys of damaged files to leave out, or null if nothing can be restored, which is printed. */
async function chooseSkipped(
  repository: Repository,
  manifest: Manifest,
  skipDamaged: boolean,
  print: Print,
): Promise<ReadonlySet<string> | null> {
  print(`verifying backup ${manifest.id}`);
  const damages = await printDamage(repository, manifest, print);
  const keys = damages.flatMap(({ key }) => key ?? []);
  if (damages.length === 0 || (skipDamaged && keys.length === damages.length)) return new Set(keys);
  const hint =
    keys.length === damages.length
      ? '--skip-damaged restores everything else'
      : 'its rows or its list of files are damaged: restore another backup with --at';
  print(`backup ${manifest.id} is damaged; nothing was restored; ${hint}`);
  return null;
}

/**
 * `vitrine restore DIR [--data NEW] [--at ID] [--skip-damaged] [--key-file FILE]`. Returns the exit code: 1 when the
 * backup is damaged, 2 when damaged files were left out.
 */
export async function restoreCommand(config: Config, args: string[], print: Print): Promise<number> {
  const { values, positionals } = parse(args, ['key-file', 'at', 'data', 'skip-damaged']);
  const directory = onlyDirectory(positionals, 'vitrine restore DIR');
  const own = values.data === undefined ? config : { ...config, dataDir: resolve(values.data) };
  const passphrase = await readPassphrase(config, values['key-file']);
  enterEmptyPlace(own);
  const repository = await openRepository(await openPlace(config, directory, false), passphrase);
  const manifest = await findBackup(repository, values.at ?? null);
  requireKnownVersion(manifest);
  await checkKey(manifest, own);
  await requireEmptyTarget(own);
  const skipped = await chooseSkipped(repository, manifest, values['skip-damaged'] === true, print);
  if (skipped === null) return 1;
  const database: OpenDatabase = await openDatabase(own, { join: false, migrate: false, log: () => {} });
  try {
    const storage = await openLibraryStorage(own);
    const progress = reporting('restored', manifest.files.count);
    const options = { skipped, progress, place: own };
    const lost = await restoreBackup(database.pool, storage, repository, manifest, options);
    print(`restored backup ${manifest.id} of ${manifest.takenAt} to ${own.dataDir}; everyone signs in again`);
    if (lost !== null) printLost(lost, print);
    else if (manifest.secretKey === undefined) printKeyRemark(manifest, print);
    printRemarks(manifest, print);
    for (const key of skipped) print(`MISSING  ${key}: damaged in the backup`);
    if (skipped.size === 0) return 0;
    print(
      `${skipped.size} files are missing; vitrine doctor --bytes --repair names whose and renders previews again`,
    );
    return 2;
  } finally {
    await database.close();
  }
}

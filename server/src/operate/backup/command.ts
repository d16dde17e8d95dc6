import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Language } from '@vitrine/contract/languages';
import { type Config, ConfigError } from '../../core/config.ts';
import { readKeyOf } from '../../people/identity/secret-key.ts';
import { type OpenDatabase, openDatabase } from '../../platform/database/open.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import {
  indented,
  type Sentence,
  saySentence,
  sentence,
  sentenceCount,
  verbatim,
} from '../../platform/language/sentence.ts';
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
type Tell = (line: Sentence) => void;

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
    throw new ConfigError(sentence('cannot read the key file: {reason}', { reason: sentenceOfError(error) }));
  });
  return text.trim();
}

function readKeep(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new ConfigError(sentence('--keep takes a number from 1 on, not {given}', { given: text }));
  return Number(text);
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

function size(language: Language, bytes: number): string {
  const at = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const unitDisplay = at === 0 ? 'long' : 'short';
  const style = { style: 'unit', unit: units[at], unitDisplay, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language, style).format(bytes / 1000 ** at);
}

/** Returns how many files there are, and their size. */
const filesOf = (language: Language, { files, bytes }: CopyProgress): Sentence =>
  sentenceCount(files, ['# file of {size}', '# files of {size}'], { size: size(language, bytes) });

/** Prints the progress every two seconds. */
function reporting(language: Language, wordsFor: (done: CopyProgress) => Sentence) {
  let lastPrintedAt = Date.now();
  return (done: CopyProgress): void => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    console.error(saySentence(language, wordsFor(done)));
  };
}

/** Why files are lost, by the English reasons in manifests. */
const lossReasons: Readonly<Record<string, Sentence>> = {
  'it is missing': sentence('it is missing'),
  'its content has changed': sentence('its content has changed'),
};

/** Prints which files are missing from the library, and which secrets the backup does not contain. */
function printRemarks({ lost, hasOwnScrambleKey }: Manifest, tell: Tell): void {
  for (const { key, reason } of lost.first)
    tell(
      indented(
        sentence('lost: {file}: {reason}', { file: key, reason: lossReasons[reason] ?? verbatim(reason) }),
      ),
    );
  if (hasOwnScrambleKey)
    tell(sentence('Passwords need the VITRINE_SCRAMBLE_KEY of this library; keep it with the backup.'));
}

/** Prints that a backup does not contain the secret key. */
function printKeyRemark({ secretKey }: Manifest, tell: Tell): void {
  if (secretKey === undefined)
    tell(
      sentence(
        'The secret key is among the rows of this backup, which an earlier version made: keep the backup as secret as the key, or replace the key with {command}.',
        { command: 'vitrine secret rotate' },
      ),
    );
  if (secretKey !== null) return;
  tell(
    sentence(
      'The secret key (secret.key or VITRINE_SECRET_KEY) is not in the backup: keep a copy elsewhere. Without it, second factors, the mail server and connections to other libraries have to be set up again.',
    ),
  );
}

/** Lists names, up to a number that an operator reads. */
function named(names: readonly string[]): Sentence {
  const shown = names.slice(0, NAMED);
  const more = names.length - NAMED;
  return more > 0
    ? sentence('{names} and {count} more', { names: shown, count: more })
    : { text: '{names}', values: { names: shown } };
}

/** Prints which secrets have to be entered again, and what the library does until then (RUN-42). */
function printLost({ accounts, hadMail, peers, actors }: LostSecrets, tell: Tell): void {
  tell(
    sentence(
      'The secret key of the library in the backup is missing. These secrets are lost, unless you restore again with it as VITRINE_SECRET_KEY:',
    ),
  );
  if (accounts.length > 0)
    tell(
      indented(
        sentence(
          'second factors of {names}: removed; they sign in with the password alone until they set up another',
          { names: named(accounts) },
        ),
      ),
    );
  if (hadMail)
    tell(indented(sentence('the mail server and its password: removed; enter them again to send mail')));
  if (peers.length > 0)
    tell(
      indented(
        sentence(
          'the key of this library and the keys of its people: replaced; the connections to {peers} are off. Remove them on both sides and connect again',
          { peers: named(peers) },
        ),
      ),
    );
  if (actors > 0)
    tell(
      indented(
        sentenceCount(actors, [
          'the key of # person who is followed with ActivityPub: replaced',
          'the keys of # people who are followed with ActivityPub: replaced',
        ]),
      ),
    );
  if (accounts.length + peers.length + actors === 0 && !hadMail) tell(indented(sentence('none')));
}

/** Prints which older files were read again; damaged ones have been copied again, unless they are among the lost. */
function printRecheck(language: Language, { files, bytes, damaged }: Recheck, tell: Tell): void {
  if (files === 0) return;
  for (const { key, reason } of damaged)
    tell(sentence('DAMAGED  {file}: {reason}; copied again if the library has it', { file: key, reason }));
  tell(
    sentenceCount(
      files,
      [
        'verified again: # older file of {size}, {damaged} damaged',
        'verified again: # older files of {size}, {damaged} damaged',
      ],
      { size: size(language, bytes), damaged: damaged.length },
    ),
  );
}

/** Returns the key of the library, also after a rotation that was interrupted; null if it is not here. */
async function readKnownKey(config: Config, pool: OpenDatabase['pool']): Promise<string | null> {
  const stored = await readStoredKey(pool);
  if (stored === null || typeof stored === 'string') return null;
  return (await readKeyOf(stored, config))?.key ?? null;
}

async function backUp(config: Config, args: string[], tell: Tell): Promise<number> {
  const { language } = config;
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
        progress: reporting(language, (done) =>
          sentence('copied: {files}', { files: filesOf(language, done) }),
        ),
      },
    );
    const { id, tables, files, lost } = manifest;
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    tell(
      sentence('backup {backup}: {rows}, {files}; new: {added}', {
        backup: id,
        rows: sentenceCount(rows, ['# row', '# rows']),
        files: filesOf(language, { files: files.count, bytes: files.bytes }),
        added: filesOf(language, added),
      }),
    );
    if (removed.length > 0) tell(sentence('removed: {backups}', { backups: removed }));
    printRecheck(language, rechecked, tell);
    printRemarks(manifest, tell);
    printKeyRemark(manifest, tell);
    if (!isRecorded)
      tell(sentence('The database could not store the time of this backup, which metrics and doctor show.'));
    if (lost.count > 0)
      tell(
        sentenceCount(
          lost.count,
          [
            '# file could not be copied; {command} says whose it is',
            '# files could not be copied; {command} says whose they are',
          ],
          { command: 'vitrine doctor --bytes' },
        ),
      );
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

async function list(config: Config, args: string[], tell: Tell): Promise<number> {
  const { language } = config;
  const { values, positionals } = parse(args, ['key-file']);
  const directory = onlyDirectory(positionals, 'vitrine backup list DIR');
  const repository = await openExisting(config, directory, values['key-file']);
  for (const id of (await listBackups(repository)).complete) {
    const { files, version, lost } = await readManifest(repository, id);
    const about = {
      backup: id,
      version,
      files: filesOf(language, { files: files.count, bytes: files.bytes }),
    };
    tell(
      lost.count === 0
        ? sentence('{backup}  Vitrine {version}, {files}', about)
        : sentence('{backup}  Vitrine {version}, {files}, {lost} lost', { ...about, lost: lost.count }),
    );
  }
  return 0;
}

/** Prints and returns each fault of a backup. */
async function printDamage(repository: Repository, manifest: Manifest, tell: Tell): Promise<Damage[]> {
  const found: Damage[] = [];
  for await (const damage of verify(repository, manifest)) {
    tell(sentence('DAMAGED  {reason}', { reason: damage.reason }));
    found.push(damage);
  }
  return found;
}

async function verifyOne(config: Config, args: string[], tell: Tell): Promise<number> {
  const { language } = config;
  const { values, positionals } = parse(args, ['key-file', 'at']);
  const directory = onlyDirectory(positionals, 'vitrine backup verify DIR');
  const repository = await openExisting(config, directory, values['key-file']);
  const manifest = await findBackup(repository, values.at ?? null);
  const { length: damaged } = await printDamage(repository, manifest, tell);
  const { id, files } = manifest;
  if (damaged > 0) {
    tell(
      sentenceCount(
        damaged,
        [
          'backup {backup} is damaged in # place; remove the named file, and the next backup copies it again',
          'backup {backup} is damaged in # places; remove the named files, and the next backup copies them again',
        ],
        { backup: id },
      ),
    );
    return 1;
  }
  tell(
    sentence('backup {backup} is complete: {files}', {
      backup: id,
      files: filesOf(language, { files: files.count, bytes: files.bytes }),
    }),
  );
  printRemarks(manifest, tell);
  printKeyRemark(manifest, tell);
  return 0;
}

/**
 * `vitrine backup DIR [--keep N] [--key-file FILE]`, `vitrine backup list DIR`, `vitrine backup verify DIR [--at ID]`.
 * Returns the exit code: 1 when a backup is damaged, 2 when files could not be copied.
 */
export async function backupCommand(config: Config, args: string[], print: Print): Promise<number> {
  const [verb, ...rest] = args;
  const tell: Tell = (line) => print(saySentence(config.language, line));
  if (verb === 'list') return list(config, rest, tell);
  if (verb === 'verify') return verifyOne(config, rest, tell);
  return backUp(config, args, tell);
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
  tell: Tell,
): Promise<ReadonlySet<string> | null> {
  const backup = manifest.id;
  tell(sentence('verifying backup {backup}', { backup }));
  const damages = await printDamage(repository, manifest, tell);
  const keys = damages.flatMap(({ key }) => key ?? []);
  if (damages.length === 0 || (skipDamaged && keys.length === damages.length)) return new Set(keys);
  const hint =
    keys.length === damages.length
      ? sentence('--skip-damaged restores everything else')
      : sentence('its rows or its list of files are damaged: restore another backup with --at');
  tell(sentence('backup {backup} is damaged; nothing was restored; {hint}', { backup, hint }));
  return null;
}

/**
 * `vitrine restore DIR [--data NEW] [--at ID] [--skip-damaged] [--key-file FILE]`. Returns the exit code: 1 when the
 * backup is damaged, 2 when damaged files were left out.
 */
export async function restoreCommand(config: Config, args: string[], print: Print): Promise<number> {
  const { language } = config;
  const tell: Tell = (line) => print(saySentence(language, line));
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
  const skipped = await chooseSkipped(repository, manifest, values['skip-damaged'] === true, tell);
  if (skipped === null) return 1;
  const database: OpenDatabase = await openDatabase(own, { join: false, migrate: false, log: () => {} });
  try {
    const storage = await openLibraryStorage(own);
    const total = manifest.files.count;
    const progress = reporting(language, ({ files, bytes }) =>
      sentenceCount(total, ['restored: {files} of # file, {size}', 'restored: {files} of # files, {size}'], {
        files,
        size: size(language, bytes),
      }),
    );
    const options = { skipped, progress, place: own };
    const lost = await restoreBackup(database.pool, storage, repository, manifest, options);
    tell(
      sentence('restored backup {backup} of {time} to {directory}; everyone signs in again', {
        backup: manifest.id,
        time: manifest.takenAt,
        directory: own.dataDir,
      }),
    );
    if (lost !== null) printLost(lost, tell);
    else if (manifest.secretKey === undefined) printKeyRemark(manifest, tell);
    printRemarks(manifest, tell);
    for (const key of skipped) tell(sentence('MISSING  {file}: damaged in the backup', { file: key }));
    if (skipped.size === 0) return 0;
    tell(
      sentenceCount(
        skipped.size,
        [
          '# file is missing; {command} names whose it is and renders previews again',
          '# files are missing; {command} names whose they are and renders previews again',
        ],
        { command: 'vitrine doctor --bytes --repair' },
      ),
    );
    return 2;
  } finally {
    await database.close();
  }
}

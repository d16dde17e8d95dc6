import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import { lockFile } from '../../content/assets/insert.ts';
import {
  damagedRenditions,
  hashOfObject,
  type KnownFile,
  repairRenditions,
} from '../../content/assets/repair.ts';
import type { Database } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { say } from '../../platform/language/say.ts';
import { type Sentence, saySentence, sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { logoKey, originalKey, subtitlesKey } from '../../platform/storage/object-key.ts';
import { DamagedObject, NoSuchObject, type Storage } from '../../platform/storage/storage.ts';

/** Files fetched from the database per statement, so that memory does not grow with the library. */
const BATCH = 200;
/** Maximum number of assets listed for one lost file. */
const MOST_NAMED = 50;

export interface BytesOptions {
  /** Files up to and including this hash are skipped; '' starts from the beginning. */
  after: string;
  /** Whether damaged renditions are rendered again. */
  repair: boolean;
  /** The language of what is printed. */
  language: Language;
  /** Aborting stops the check, even within a file. */
  signal: AbortSignal;
  print(line: string): void;
  /** Called after each file and during long ones. */
  progress(done: { files: number; bytes: number }): void;
}

export interface BytesReport {
  files: number;
  bytes: number;
  /** Originals, subtitles and logos that are missing or differ from the uploaded bytes. */
  lost: number;
  /** Files with missing or damaged renditions, and how many of them are being rendered again. */
  previews: number;
  repairing: number;
  /** The last checked file, if the check was stopped before the end. */
  stoppedAfter: string | null;
}

/** Returns the number of files and bytes to check after a hash. */
export async function countFiles(db: Database, after: string): Promise<{ files: number; bytes: number }> {
  const { rows } = await sql<{ files: number; bytes: number }>`
    select count(*) as files, coalesce(sum(size_bytes), 0) as bytes from files
    where hash > ${after} and origin_peer_id is null`.execute(db);
  return rows[0] ?? { files: 0, bytes: 0 };
}

/** Returns what is wrong with an object that should have this size and SHA-256, or null. */
async function faultOf(
  storage: Storage,
  key: string,
  { hash, size_bytes }: Pick<KnownFile, 'hash' | 'size_bytes'>,
  onBytes: (count: number) => void,
): Promise<Sentence | null> {
  const found = await storage.head(key);
  if (found === null) return sentence('missing');
  if (found.sizeBytes !== size_bytes)
    return sentenceCount(size_bytes, ['has {found} of # byte', 'has {found} of # bytes'], {
      found: found.sizeBytes,
    });
  try {
    const read = await hashOfObject(storage, key, size_bytes, onBytes);
    return read === hash ? null : sentence('its content has changed');
  } catch (error) {
    const isOfObject = error instanceof DamagedObject || error instanceof NoSuchObject;
    if (!isOfObject && !(error instanceof Error && 'syscall' in error)) throw error;
    return sentence('cannot be read: {reason}', { reason: sentenceOfError(error) });
  }
}

const HEAD_WIDTH = 10;

/** Returns the word that begins a line, padded. */
const headOf = (language: Language, head: Sentence): string => saySentence(language, head).padEnd(HEAD_WIDTH);

function lostLine(language: Language, key: string, fault: Sentence): string {
  return `${headOf(language, sentence('LOST'))}${key}: ${saySentence(language, fault)}`;
}

/** Returns the assets of some bytes as lines of text; null when the bytes were removed meanwhile. */
async function assetLines(db: Database, hash: string, language: Language): Promise<string[] | null> {
  const { rows } = await sql<{ id: string; title: string; owner: string | null; deleted: boolean }>`
    select a.id, a.title, u.username as owner, a.deleted_at is not null as deleted
    from assets a left join users u on u.ref = a.owner_user_ref
    where a.file_hash = ${hash} or a.interim_hash = ${hash} or a.film_hash = ${hash}
      or a.id in (select v.asset_id from asset_versions v where v.file_hash = ${hash}) order by a.created_at, a.id limit ${MOST_NAMED + 1}`.execute(
    db,
  );
  const kept = await sql`select from files where hash = ${hash}`.execute(db);
  if (kept.rows.length === 0) return null;
  // Quoted as JSON: a title may contain anything, including control characters of a terminal.
  const lines = rows.slice(0, MOST_NAMED).map(({ id, title, owner, deleted }) => {
    const named = JSON.stringify(title);
    const line =
      owner === null
        ? say(language, 'asset {id} {title} of nobody', { id, title: named })
        : say(language, 'asset {id} {title} of {owner}', { id, title: named, owner: JSON.stringify(owner) });
    return `  ${deleted ? say(language, '{asset}, in the trash', { asset: line }) : line}`;
  });
  return rows.length > MOST_NAMED ? [...lines, `  ${say(language, 'and more')}`] : lines;
}

async function checkRenditions(
  { db, storage }: { db: Database; storage: Storage },
  file: KnownFile,
  originalIsSound: boolean,
  { repair, language, print }: BytesOptions,
  report: BytesReport,
): Promise<void> {
  const damaged = await damagedRenditions(storage, file);
  if (damaged.length === 0) return;
  report.previews += 1;
  const tell = (what: Sentence) => {
    const found = { hash: file.hash, previews: damaged, result: what };
    const line = sentence('{hash}: {previews} missing or damaged; {result}', found);
    print(`${headOf(language, sentence('PREVIEWS'))}${saySentence(language, line)}`);
  };
  if (!originalIsSound) return tell(sentence('the original is needed to render them'));
  if (!repair) return tell(sentence('--repair renders them again'));
  const repaired = await db.transaction().execute(async (tx) => {
    await lockFile(tx, file.hash);
    return repairRenditions(tx, storage, file);
  });
  if (repaired.length > 0) report.repairing += 1;
  tell(
    repaired.length > 0 ? sentence('rendering again') : sentence('this version does not render such files'),
  );
}

async function checkLogos(
  { db, storage }: { db: Database; storage: Storage },
  { signal, language, print }: BytesOptions,
  report: BytesReport,
): Promise<void> {
  for (const logo of await db.selectFrom('logos').select(['hash', 'size_bytes']).execute()) {
    signal.throwIfAborted();
    const fault = await faultOf(storage, logoKey(logo.hash), logo, () => {});
    if (fault === null) continue;
    report.lost += 1;
    print(lostLine(language, logoKey(logo.hash), fault));
  }
}

/** Checks every stored subtitle file; they have their own rows, and are few and small compared with originals. */
async function checkSubtitles(
  { db, storage }: { db: Database; storage: Storage },
  { signal, language, print }: BytesOptions,
  report: BytesReport,
): Promise<void> {
  let after = '';
  for (;;) {
    const { rows } = await sql<{ hash: string; size_bytes: number; assets: string[] }>`
      select file_hash as hash, min(size_bytes) as size_bytes,
        (array_agg(asset_id::text || ' (' || lang || ')' order by asset_id, lang))[1:${MOST_NAMED}::integer] as assets
      from subtitles where file_hash > ${after} group by file_hash order by file_hash limit ${BATCH}`.execute(
      db,
    );
    for (const file of rows) {
      after = file.hash;
      const fault = await faultOf(storage, subtitlesKey(file.hash), file, () => signal.throwIfAborted());
      if (fault === null) continue;
      // Subtitles that were replaced meanwhile are not reported as missing.
      const kept = await sql`select from subtitles where file_hash = ${file.hash} limit 1`.execute(db);
      if (kept.rows.length === 0) continue;
      report.lost += 1;
      print(lostLine(language, subtitlesKey(file.hash), fault));
      for (const asset of file.assets) print(`  ${say(language, 'subtitles of asset {asset}', { asset })}`);
    }
    if (rows.length < BATCH) return;
  }
}

/**
 * Compares the size and SHA-256 of every original, subtitle file and logo and the size of every rendition, and prints a
 * line for each fault. Does not read copies of what peers share. Reads in order of the hash, so that a later run can
 * continue where one stopped.
 */
export async function checkBytes(
  { db, storage }: { db: Database; storage: Storage },
  options: BytesOptions,
): Promise<BytesReport> {
  const { signal, language, print, progress } = options;
  const report: BytesReport = { files: 0, bytes: 0, lost: 0, previews: 0, repairing: 0, stoppedAfter: null };
  const onBytes = (count: number) => {
    signal.throwIfAborted();
    report.bytes += count;
    progress(report);
  };
  let after = options.after;
  try {
    if (after === '') {
      await checkLogos({ db, storage }, options, report);
      await checkSubtitles({ db, storage }, options, report);
    }
    for (;;) {
      const { rows } = await sql<KnownFile>`select hash, size_bytes, mime, renditions from files
        where hash > ${after} and origin_peer_id is null order by hash limit ${BATCH}`.execute(db);
      for (const file of rows) {
        signal.throwIfAborted();
        const fault = await faultOf(storage, originalKey(file.hash), file, onBytes);
        const lines = fault === null ? null : await assetLines(db, file.hash, language);
        if (fault !== null && lines !== null) {
          report.lost += 1;
          for (const line of [lostLine(language, originalKey(file.hash), fault), ...lines]) print(line);
        }
        await checkRenditions({ db, storage }, file, fault === null, options, report);
        report.files += 1;
        after = file.hash;
        progress(report);
      }
      if (rows.length < BATCH) return report;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return { ...report, stoppedAfter: after };
  }
}

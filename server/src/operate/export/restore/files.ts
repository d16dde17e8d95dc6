import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { sentenceOfError } from '../../../platform/faults/worded-errors.ts';
import { type Sentence, sentence } from '../../../platform/language/sentence.ts';
import { logoKey, originalKey, subtitlesKey } from '../../../platform/storage/object-key.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { inOrder } from '../../backup/copy-files.ts';
import { linesOf } from '../../backup/manifest.ts';
import { readManifest } from '../bag/directory.ts';
import type { LostFile } from '../bag/entry.ts';
import { measured } from '../bag/measured.ts';
import { ExportError, type Place } from '../bag/paths.ts';
import { rowsPath } from '../rows.ts';

/** Which rows name stored files, in which column, and under which key the storage has them. */
const kinds = {
  files: { column: 'hash', keyOf: originalKey },
  subtitles: { column: 'file_hash', keyOf: subtitlesKey },
  logos: { column: 'hash', keyOf: logoKey },
};
type Kind = keyof typeof kinds;

/** Lines compared with the rows in one statement. */
const BATCH = 500;

/** Remembers the hashes that rows name in a table of the session, so that any number of them needs constant memory. */
async function readWanted(client: pg.ClientBase, place: Place): Promise<void> {
  await client.query('drop table if exists pg_temp.wanted_files');
  await client.query('create temporary table wanted_files (hash text, kind text, primary key (hash, kind))');
  for (const [kind, { column }] of Object.entries(kinds)) {
    let hashes: unknown[] = [];
    const flush = async () => {
      await client.query(
        'insert into wanted_files select h, $2 from unnest($1::text[]) h on conflict do nothing',
        [hashes, kind],
      );
      hashes = [];
    };
    for await (const line of linesOf(await place.read(rowsPath(kind)))) {
      const row: Record<string, unknown> = line === '' ? {} : JSON.parse(line);
      if (typeof row[column] === 'string' && /^[0-9a-f]{64}$/.test(row[column])) hashes.push(row[column]);
      if (hashes.length >= BATCH) await flush();
    }
    await flush();
  }
}

interface FoundFile {
  path: string;
  sha256: string;
  kind: Kind;
}

/** Yields the files of the manifest that rows name. */
async function* findFiles(client: pg.ClientBase, place: Place): AsyncGenerator<FoundFile> {
  let batch: { path: string; sha256: string }[] = [];
  const wantedOf = async () => {
    const { rows } = await client.query<FoundFile>(
      `select x.path, x.sha256, w.kind from unnest($1::text[], $2::text[]) with ordinality x (path, sha256, place)
        join wanted_files w on w.hash = x.sha256 order by x.place`,
      [batch.map(({ path }) => path), batch.map(({ sha256 }) => sha256)],
    );
    batch = [];
    return rows;
  };
  for await (const file of readManifest(place)) {
    batch.push(file);
    if (batch.length >= BATCH) yield* await wantedOf();
  }
  yield* await wantedOf();
}

/** Stores a file of the export; returns why it cannot be, or null. */
async function storeFile(
  storage: Storage,
  place: Place,
  { path, sha256, kind }: FoundFile,
): Promise<Sentence | null> {
  const key = kinds[kind].keyOf(sha256);
  const found = await place.look(path);
  if (found === null) return sentence('it is missing');
  if ((await storage.head(key))?.sizeBytes === found.size) return null;
  const temporary = join(storage.incomingDir, `import-${randomUUID()}`);
  const measure = measured();
  try {
    await pipeline(await place.read(path), measure.stream, createWriteStream(temporary, { flags: 'wx' }));
    if (measure.result().sha256 !== sha256) return sentence('its bytes have another hash');
    await storage.adopt(temporary, key);
    return null;
  } catch (error) {
    if (error instanceof ExportError) return sentenceOfError(error);
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Stores the files that the rows name. Returns those that the export lacks. */
export async function storeFiles(
  client: pg.ClientBase,
  storage: Storage,
  place: Place,
  onStored: (files: number) => void,
): Promise<LostFile[]> {
  await readWanted(client, place);
  const failed = new Map<string, LostFile>();
  let stored = 0;
  const results = inOrder(findFiles(client, place), async (file) => ({
    file,
    reason: await storeFile(storage, place, file),
  }));
  for await (const { file, reason } of results) {
    if (reason !== null) {
      failed.set(file.sha256, { path: file.path, reason });
      continue;
    }
    stored += 1;
    await client.query('delete from wanted_files where hash = $1 and kind = $2', [file.sha256, file.kind]);
    onStored(stored);
  }
  const { rows } = await client.query<{ hash: string }>('select hash from wanted_files order by hash');
  // Another file of the export may have had the same bytes.
  return rows.map(
    ({ hash }) => failed.get(hash) ?? { path: hash, reason: sentence('no file of the export has this hash') },
  );
}

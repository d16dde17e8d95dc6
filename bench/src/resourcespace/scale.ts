import { execFile } from 'node:child_process';
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Layout, partialChecksum, pathIn } from '@vitrine/server/resourcespace-files';
import { cacheDir } from '../library.ts';
import { insertOf, readTable, type TableRows } from './dump-rows.ts';

/** The installation that the tests import; RESOURCESPACE_ARCHIVE names another one, for them and for the bench. */
const archive =
  process.env.RESOURCESPACE_ARCHIVE ??
  join(import.meta.dirname, '../../../server/test/import/resourcespace/harbour.tar.gz');

const run = promisify(execFile);

/** A ResourceSpace with many resources. */
export interface Scaled {
  resources: number;
  /** The file of each resource that has one. */
  files: string[];
  /** Resources without a file, for which the import makes a text. */
  texts: number;
  /** The options of `vitrine import-resourcespace` that name its parts. */
  options: string[];
  remove(): Promise<void>;
}

/** The file store, and how it names its files. */
interface Place {
  root: string;
  layout: Layout;
}

/** A resource with a file in the file store. */
interface Stored {
  ref: number;
  extension: string;
  bytes: Buffer;
}

/** The file of a copied resource. */
interface Copied {
  path: string;
  extension: string;
  checksum: string;
}

function pathOf({ root, layout }: Place, ref: number, extension: string): string {
  return pathIn(root, layout, { ref, alt: null, extension });
}

/** Adds a comment to a JPEG, which makes it another file with the same picture. */
function withComment(jpeg: Buffer, comment: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(comment.length + 2);
  return Buffer.concat([
    jpeg.subarray(0, 2),
    Buffer.of(0xff, 0xfe),
    length,
    Buffer.from(comment),
    jpeg.subarray(2),
  ]);
}

const isJpeg = (bytes: Buffer) => bytes.subarray(0, 3).equals(Buffer.of(0xff, 0xd8, 0xff));

/** Stores the file of a copied resource. */
async function storeCopy(place: Place, { extension, bytes }: Stored, ref: number): Promise<Copied> {
  const path = pathOf(place, ref, extension);
  await mkdir(dirname(path), { recursive: true });
  const own = withComment(bytes, `resource ${ref}`);
  await writeFile(path, own);
  return { path, extension, checksum: partialChecksum(own.length, own) };
}

/** Returns the files of copied resources. A file that is no JPEG is replaced by one of the JPEGs. */
function pictures(stored: readonly Stored[]): Stored[] {
  const jpegs = stored.filter(({ bytes }) => isJpeg(bytes));
  return stored.map((one, at) => {
    const { extension, bytes } = (isJpeg(one.bytes) ? one : jpegs[at % jpegs.length]) ?? one;
    return { ref: one.ref, extension, bytes };
  });
}

const unquoted = (value: string | undefined) => (value?.startsWith("'") === true ? value.slice(1, -1) : '');

/** The tables that are copied with a resource, whose number is in the column `resource`. */
const copied = ['resource_custom_access', 'resource_dimensions', 'resource_log', 'resource_node'];

/** Returns the rows of real resources, and the place of the column with their number. */
function rowsToCopy(dump: string, table: string, column: string) {
  const found = readTable(dump, table);
  const at = found.columns.indexOf(column);
  return { ...found, at, rows: found.rows.filter((row) => Number(row[at]) > 0) };
}

async function readStored(place: Place, { columns, rows }: TableRows): Promise<Stored[]> {
  const [extensionAt, pathAt] = [columns.indexOf('file_extension'), columns.indexOf('file_path')];
  const found = rows.map(async (row): Promise<Stored[]> => {
    const [ref, extension] = [Number(row[0]), unquoted(row[extensionAt])];
    if (extension === '' || unquoted(row[pathAt]) !== '') return [];
    const bytes = await readFile(pathOf(place, ref, extension)).catch(() => null);
    return bytes === null ? [] : [{ ref, extension, bytes }];
  });
  return (await Promise.all(found)).flat();
}

/** Returns how many resources have no file, neither in the file store nor in the folder of StaticSync. */
async function countWithoutFile(
  { columns, rows }: TableRows,
  stored: readonly Stored[],
  syncdir: string,
): Promise<number> {
  const pathAt = columns.indexOf('file_path');
  const synced = rows.flatMap((row) => unquoted(row[pathAt]) || []);
  const found = await Promise.all(
    synced.map((path) =>
      stat(join(syncdir, path)).then(
        () => 1,
        () => 0,
      ),
    ),
  );
  return rows.length - stored.length - found.reduce<number>((sum, one) => sum + one, 0);
}

/** The tables and files to copy, and the distance between the numbers of one copy and those of the next. */
interface Source {
  tables: readonly ReturnType<typeof rowsToCopy>[];
  stored: readonly Stored[];
  step: number;
}

/** Stores the files of all copies. Returns them by the numbers of their resources. */
async function storeCopies(place: Place, { stored, step }: Source, copies: number) {
  const files = new Map<number, Copied>();
  for (let copy = 1; copy <= copies; copy += 1) {
    const made = pictures(stored).map(async (one) => {
      const ref = one.ref + copy * step;
      files.set(ref, await storeCopy(place, one, ref));
    });
    await Promise.all(made);
  }
  return files;
}

/** Returns a function that changes the rows of a table for a copy. */
function rowsOfCopy({ table, columns, rows, at }: Source['tables'][number], files: Map<number, Copied>) {
  const [checksumAt, extensionAt] = [columns.indexOf('file_checksum'), columns.indexOf('file_extension')];
  const logAt = table === 'resource_log' ? columns.indexOf('ref') : -1;
  const logged = Math.max(...rows.map((row) => Number(row[logAt] ?? 0)));
  return (copy: number, step: number) =>
    rows.map((row) => {
      const ref = Number(row[at]) + copy * step;
      const changed = [...row];
      changed[at] = String(ref);
      if (logAt !== -1) changed[logAt] = String(Number(row[logAt]) + copy * logged);
      const file = table === 'resource' ? files.get(ref) : undefined;
      if (file === undefined) return changed;
      changed[checksumAt] = `'${file.checksum}'`;
      changed[extensionAt] = `'${file.extension}'`;
      return changed;
    });
}

/** Writes the dump with the rows of the copies behind the rows of each table. */
async function writeDump(
  path: string,
  dump: string,
  { tables, step }: Source,
  { copies, files }: { copies: number; files: Map<number, Copied> },
): Promise<void> {
  const file = await open(path, 'w');
  let written = 0;
  for (const found of tables.toSorted((a, b) => a.end - b.end)) {
    await file.write(dump.slice(written, found.end), null, 'latin1');
    written = found.end;
    const rowsOf = rowsOfCopy(found, files);
    for (let copy = 1; copy <= copies; copy += 1)
      await file.write(insertOf(found.table, rowsOf(copy, step)), null, 'latin1');
  }
  await file.write(dump.slice(written), null, 'latin1');
  await file.close();
}

/**
 * Unpacks the installation and copies its resources until there are about this many, with their values, access and
 * history. Every copy of a resource with a file has a different small JPEG.
 */
export async function scaleInstallation(resources: number): Promise<Scaled> {
  const directory = join(cacheDir, 'resourcespace');
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await run('tar', ['-xzf', archive, '-C', directory]);
  // Its folders are read-only.
  await run('chmod', ['-R', 'u+w', directory]);
  const config = join(directory, 'config.json');
  const settings: { scramble_key: string; filestore_evenspread: boolean } = JSON.parse(
    await readFile(config, 'utf8'),
  );
  const root = join(directory, 'filestore');
  const layout = { isEvenSpread: settings.filestore_evenspread, key: settings.scramble_key, folder: '' };
  const place = { root, layout };
  const dump = await readFile(join(directory, 'dump.sql'), 'latin1');
  const own = rowsToCopy(dump, 'resource', 'ref');
  const tables = [own, ...copied.map((table) => rowsToCopy(dump, table, 'resource'))];
  const refs = own.rows.map(([ref]) => Number(ref));
  const step = 10 ** String(Math.max(...refs)).length;
  const source = { tables, stored: await readStored(place, own), step };
  const copies = Math.round(resources / refs.length) - 1;
  const files = await storeCopies(place, source, copies);
  const path = join(directory, 'scaled.sql');
  await writeDump(path, dump, source, { copies, files });
  const count = refs.length * (copies + 1);
  const syncdir = join(directory, 'syncdir');
  const texts = (await countWithoutFile(own, source.stored, syncdir)) * (copies + 1);
  console.log(
    `${count} resources, ${texts} of them without a file, ${files.size} of them copies with a different JPEG each; a dump of ${((await stat(path)).size / 1e6).toFixed(0)} MB`,
  );
  return {
    resources: count,
    texts,
    files: [
      ...source.stored.map(({ ref, extension }) => pathOf(place, ref, extension)),
      ...Array.from(files.values(), ({ path: copied }) => copied),
    ],
    options: ['--dump', path, '--filestore', root, '--syncdir', syncdir, '--config', config],
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

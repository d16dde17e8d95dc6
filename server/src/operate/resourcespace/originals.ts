import { readFile } from 'node:fs/promises';
import {
  baseName,
  type Received,
  receiveBytes,
  receiveFile,
  WHOLE_BYTES,
} from '../../content/assets/receive.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { FileToBring } from '../imports/changed-files.ts';
import type { Context } from './context.ts';
import type { ResourceRow } from './details.ts';
import { type FileFinder, type FoundFile, hasChecksum, isChecksumOf } from './file-paths.ts';

/** Returns a file as one whose bytes may have changed. */
export function fileToBring({ deps }: Context, { path, mark }: FoundFile, fileName: string): FileToBring {
  return { fileName, mark, receive: () => receiveFile(path, deps.storage) };
}

/** Finds the file of a resource; null if it has none or it is missing. */
export async function findOriginal(files: FileFinder, row: ResourceRow): Promise<FoundFile | null> {
  const isSynced = row.file_path !== null && row.file_path.trim() !== '';
  if (isSynced) return files.synced(row.file_path ?? '');
  return row.file_extension === null || row.file_extension === ''
    ? null
    : files.original(row.ref, row.file_extension);
}

/** Returns the name that a file was uploaded with; empty if ResourceSpace does not know it. */
export function givenName({ installation }: Pick<Context, 'installation'>, { values }: ResourceRow): string {
  return values?.find(({ field }) => field === installation.fileNameField)?.name?.trim() ?? '';
}

/** The name of a file for people; the name that it was uploaded with is a value of a field, which not everyone may read. */
export function fileNameOf(context: Context, row: ResourceRow): string {
  const { plan, installation } = context;
  const field = plan.fields.find((own) => own.field.ref === installation.fileNameField);
  const given = givenName(context, row);
  if (field?.readers === null && given !== '') return baseName(given);
  return `resource-${row.ref}.${row.file_extension ?? 'txt'}`;
}

/** Makes a small text of a resource without a file, so that its values have an asset. */
function standIn(context: Context, ref: number, reason: string): Promise<Received> {
  return receiveBytes(Buffer.from(`ResourceSpace resource ${ref}: ${reason}\n`), context.deps.storage);
}

export interface Original {
  received: Received;
  fileName: string;
}

/** Receives a file and compares its checksum. A small file is read once for both. */
async function receiveChecked({ deps, reporter }: Context, row: ResourceRow, found: FoundFile) {
  const { path, sizeBytes } = found;
  const bytes = sizeBytes <= WHOLE_BYTES ? await readFile(path) : null;
  const received =
    bytes === null ? await receiveFile(path, deps.storage) : await receiveBytes(bytes, deps.storage);
  const recorded = row.file_checksum;
  if (recorded === null || recorded === '') return received;
  const { hashes } = reporter.report;
  hashes.compared += 1;
  const isEqual = bytes === null ? await hasChecksum(path, recorded) : isChecksumOf(bytes, recorded);
  if (isEqual) hashes.equal += 1;
  else hashes.different.push(String(row.ref));
  return received;
}

/** Receives the file of a resource, or a text in its place, and compares its checksum. */
export async function receiveOriginal(
  context: Context,
  row: ResourceRow,
  found: FoundFile | null,
): Promise<Original> {
  const { reporter } = context;
  if (found !== null) {
    const received = await receiveChecked(context, row, found);
    reporter.count('files');
    return { received, fileName: fileNameOf(context, row) };
  }
  const hadFile = row.no_file !== 1 && (row.file_extension ?? '') !== '';
  if (hadFile)
    reporter.leaveOut(
      'file',
      row.ref,
      sentence('is missing in the file store; the asset has a text in its place'),
    );
  else reporter.change('resource', row.ref, sentence('has no file; the asset has a text in its place'));
  const reason = hadFile ? 'its file was missing when it was imported' : 'it has no file';
  return { received: await standIn(context, row.ref, reason), fileName: `resource-${row.ref}.txt` };
}

import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { liveAsset } from '../../access/assets.ts';
import { hashOf } from '../../content/assets/repair.ts';
import { type PathField, valuesOfPath } from '../../content/path-values/path-values.ts';
import { unstackedGroups } from '../../content/stacks/store.ts';
import type { Deps } from '../../core/deps.ts';
import { type MediaKind, sniff } from '../../media/sniff.ts';
import type { Database } from '../../platform/database/pool.ts';
import { say, sayCount } from '../../platform/language/say.ts';
import { listed, saySentence } from '../../platform/language/sentence.ts';
import type { LivePlan } from './live-photos.ts';
import { findStacks } from './stacks.ts';
import { findOwn } from './store.ts';
import { countValue, emptySummary, type FolderSummary, folderLines, sizeText } from './summary.ts';
import { type FoundFile, whySkipped } from './walk.ts';

/** Files that are opened concurrently. */
const AT_ONCE = 8;

interface Measured {
  file: FoundFile;
  bytes: number;
  kind: MediaKind;
  /** The owner's asset of these bytes, if there is one. */
  present: string | null;
}

/** What an import does with files besides storing them. */
interface Arranging {
  fields: readonly PathField[];
  /** Whether files that belong together are stacked. */
  stacks: boolean;
}

/** Returns the sizes of the owner's files: only a file of one of these sizes can be present already. */
async function ownSizes(db: Database, ownerRef: number): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ size: number }>`select distinct f.size_bytes as size from assets a
    join files f on f.hash = a.file_hash where a.owner_user_ref = ${ownerRef} and ${liveAsset}`.execute(db);
  return new Set(rows.map(({ size }) => size));
}

async function measure(
  db: Database,
  ownerRef: number,
  sizes: ReadonlySet<number>,
  file: FoundFile,
): Promise<Measured> {
  const { size: bytes } = await stat(file.source);
  const present = sizes.has(bytes) ? await findOwn(db, ownerRef, await hashOf(file.source)) : null;
  // Decoders cannot open a path that is not UTF-8; its kind is found when it is imported.
  const { kind } = typeof file.source === 'string' ? await sniff(file.source) : { kind: 'other' as const };
  return { file, bytes, kind, present };
}

/** Returns the stacks that an import would make. */
async function newStacks(
  db: Database,
  stacks: readonly FoundFile[][],
  measured: readonly Measured[],
): Promise<FoundFile[][]> {
  // A new file has an id that no asset has.
  const idOf = new Map(measured.map(({ file, present }) => [file, present ?? randomUUID()]));
  const groupOf = (files: readonly FoundFile[]) => files.flatMap((file) => idOf.get(file) ?? []);
  const groups = new Set((await unstackedGroups(db, stacks.map(groupOf))).map(([top]) => top));
  return stacks.filter((files) => groups.has(groupOf(files)[0]));
}

/** Summarises each folder, in the order in which an import reads them. */
function summarise(
  { files, subtitles, metadata, orphans, skipped, films }: LivePlan,
  measured: readonly Measured[],
  { fields, stacks }: { fields: readonly PathField[]; stacks: readonly FoundFile[][] },
): Map<string, FolderSummary> {
  const folders = new Map<string, FolderSummary>();
  const of = (folder: string) => {
    const summary = folders.get(folder) ?? emptySummary();
    folders.set(folder, summary);
    return summary;
  };
  for (const { folder } of files) of(folder);
  for (const { file, bytes, kind } of measured) {
    const summary = of(file.folder);
    summary.files += 1;
    summary.bytes += bytes;
    summary.sidecars += metadata.get(file.path)?.length ?? 0;
    if (films.has(file.path)) summary.films += 1;
    summary.kinds.set(kind, (summary.kinds.get(kind) ?? 0) + 1);
    for (const { code, text } of valuesOfPath(fields, file)) countValue(summary, code, text);
  }
  for (const [file] of stacks) if (file !== undefined) of(file.folder).stacks += 1;
  for (const { file } of subtitles) of(file.folder).sidecars += 1;
  for (const { path, folder } of orphans) of(folder).skipped.push({ path, folder, reason: 'orphan' });
  for (const entry of skipped) of(entry.folder).skipped.push(entry);
  return folders;
}

/** ADMIN-30: returns what an import would do, folder by folder. Writes nothing. */
export async function dryRun(
  language: Language,
  { db, metadata }: Pick<Deps, 'db' | 'metadata'>,
  ownerRef: number,
  plan: LivePlan,
  arranging: Arranging,
): Promise<string[]> {
  const sizes = await ownSizes(db, ownerRef);
  const limit = pLimit(AT_ONCE);
  const measured = await Promise.all(
    plan.files.map((file) => limit(() => measure(db, ownerRef, sizes, file))),
  );
  const present = measured.filter((file) => file.present !== null).length;
  const bytes = measured.reduce((sum, one) => sum + one.bytes, 0);
  const stacks = arranging.stacks
    ? await newStacks(db, await findStacks(metadata, plan.files), measured)
    : [];
  const folders = summarise(plan, measured, { ...arranging, stacks });
  const summary = listed(language, [
    sayCount(language, plan.files.length - present, [
      '# file would be imported',
      '# files would be imported',
    ]),
    say(language, '{count} already present', { count: present }),
    sayCount(language, folders.size, ['# folder', '# folders']),
    sizeText(language, bytes),
  ]);
  const skipped = [...plan.orphans.map(({ path }) => ({ path, reason: 'orphan' as const })), ...plan.skipped];
  return [
    say(language, '{summary}; nothing was written', { summary }),
    ...[...folders].flatMap(([folder, found]) => folderLines(language, folder, found)),
    ...skipped.map(
      ({ path, reason }) =>
        `  ${say(language, 'skipped {path}: {reason}', { path, reason: saySentence(language, whySkipped[reason]) })}`,
    ),
  ];
}

import { readFile, stat } from 'node:fs/promises';
import {
  isMetadataName,
  isSubtitleName,
  metadataMatch,
  mostSidecarBytes,
  type SidecarKind,
  sidecarMatches,
  stemOf,
} from '@vitrine/contract/sidecars';
import { describedNames, readTakeout, type Takeout, takeoutTargets } from '../../content/sidecars/takeout.ts';
import type { FoundFile, SkippedEntry, Walked } from './walk.ts';

/** A file that belongs to others in its folder. */
export interface FoundSidecar {
  file: FoundFile;
  /** The files that it may belong to, the best match first. */
  targets: readonly { file: FoundFile; lang: string }[];
}

/** A file with metadata of another one in its folder. */
export type FoundMetadata =
  | { kind: SidecarKind; file: FoundFile }
  | { kind: 'takeout'; file: FoundFile; takeout: Takeout };

/** What an import does with what it found. */
export interface ImportPlan {
  files: FoundFile[];
  subtitles: FoundSidecar[];
  /** The metadata of each file, by its path. */
  metadata: ReadonlyMap<string, FoundMetadata[]>;
  /** Metadata without the file that it describes. */
  orphans: FoundFile[];
  skipped: SkippedEntry[];
}

/** Returns a function that finds the files beside a subtitle file that it may belong to. */
function subtitleTargets(files: readonly FoundFile[]) {
  const place = (folder: string, stem: string) => `${folder}/${stem}`;
  const beside = Map.groupBy(files, ({ folder, name }) => place(folder, stemOf(name)));
  return ({ name, folder }: FoundFile) =>
    sidecarMatches(name).flatMap(({ stem, lang }) =>
      (beside.get(place(folder, stem)) ?? [])
        .filter((file) => file.name !== name)
        .map((file) => ({ file, lang })),
    );
}

/** Reads a JSON file of Google Takeout; null for every other file. */
async function takeoutIn({ name, source }: FoundFile): Promise<Takeout | null> {
  if (!/\.json$/i.test(name)) return null;
  if ((await stat(source)).size > mostSidecarBytes) return null;
  return readTakeout(await readFile(source, 'utf8'));
}

/** What the files of one folder are. */
interface FolderPlan {
  others: FoundFile[];
  found: [target: FoundFile, metadata: FoundMetadata][];
  orphans: FoundFile[];
}

/** Finds the file of each sidecar in a folder. A sidecar is never a file of its own (SIDECAR-5). */
async function planFolder(files: readonly FoundFile[]): Promise<FolderPlan> {
  const sheets = files.filter(({ name }) => isMetadataName(name));
  const takeouts: { file: FoundFile; takeout: Takeout }[] = [];
  for (const file of files) {
    const takeout = await takeoutIn(file);
    if (takeout !== null) takeouts.push({ file, takeout });
  }
  const isSidecar = new Set([...sheets, ...takeouts.map(({ file }) => file)]);
  const others = files.filter((file) => !isSidecar.has(file));
  const plan: FolderPlan = { others, found: [], orphans: [] };
  for (const file of sheets) {
    const match = metadataMatch(file.name, others);
    if (match === null) plan.orphans.push(file);
    else plan.found.push([match.file, { kind: match.kind, file }]);
  }
  const described = new Set(takeouts.flatMap(({ file }) => describedNames(file.name)));
  for (const { file, takeout } of takeouts) {
    const targets = takeoutTargets(file.name, others, described);
    if (targets.length === 0) plan.orphans.push(file);
    for (const target of targets) plan.found.push([target, { kind: 'takeout', file, takeout }]);
  }
  return plan;
}

/** Sorts what a walk found into files, files that belong to them, and what is skipped. */
export async function planImport(walked: AsyncIterable<Walked>): Promise<ImportPlan> {
  const files: FoundFile[] = [];
  const skipped: SkippedEntry[] = [];
  for await (const { kind, ...entry } of walked) {
    if ('reason' in entry) skipped.push(entry);
    else files.push(entry);
  }
  const all: FoundFile[] = [];
  const orphans: FoundFile[] = [];
  const metadata = new Map<string, FoundMetadata[]>();
  for (const inFolder of Map.groupBy(files, ({ folder }) => folder).values()) {
    const folder = await planFolder(inFolder);
    all.push(...folder.others);
    orphans.push(...folder.orphans);
    for (const [target, found] of folder.found)
      metadata.set(target.path, [...(metadata.get(target.path) ?? []), found]);
  }
  const { subtitles = [], others = [] } = Object.groupBy(all, ({ name }) =>
    isSubtitleName(name) ? 'subtitles' : 'others',
  );
  const targetsOf = subtitleTargets(all);
  const attached = subtitles.map((file) => ({ file, targets: targetsOf(file) }));
  return { files: others, subtitles: attached, metadata, orphans, skipped };
}

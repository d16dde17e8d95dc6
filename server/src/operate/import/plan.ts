import { isSubtitleName, sidecarMatches, stemOf } from '@vitrine/contract/sidecars';
import type { FoundFile, SkippedEntry, Walked } from './walk.ts';

/** A file that belongs to others in its folder. */
export interface FoundSidecar {
  file: FoundFile;
  /** The files that it may belong to, the best match first. */
  targets: readonly { file: FoundFile; lang: string }[];
}

/** What an import does with what it found. */
export interface ImportPlan {
  files: FoundFile[];
  subtitles: FoundSidecar[];
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

/** Sorts what a walk found into files, files that belong to them, and what is skipped. */
export async function planImport(walked: AsyncIterable<Walked>): Promise<ImportPlan> {
  const files: FoundFile[] = [];
  const skipped: SkippedEntry[] = [];
  for await (const { kind, ...entry } of walked) {
    if ('reason' in entry) skipped.push(entry);
    else files.push(entry);
  }
  const { subtitles = [], others = [] } = Object.groupBy(files, ({ name }) =>
    isSubtitleName(name) ? 'subtitles' : 'others',
  );
  const targetsOf = subtitleTargets(files);
  return { files: others, subtitles: subtitles.map((file) => ({ file, targets: targetsOf(file) })), skipped };
}

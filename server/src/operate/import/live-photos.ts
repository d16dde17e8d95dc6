import pLimit from 'p-limit';
import { noMarks, pairFolder, readMarks } from '../../content/live-photos/pair.ts';
import type { MetadataReader } from '../../media/metadata/reader.ts';
import type { ImportPlan } from './plan.ts';
import type { FoundFile } from './walk.ts';

/** Files that are read concurrently. */
const AT_ONCE = 4;

/** A plan with the films of live photos, by the paths of the photos. */
export type LivePlan = ImportPlan & { films: ReadonlyMap<string, FoundFile> };

/**
 * Finds films of live photos among the files of a plan, and takes them out of it. Their sidecars describe
 * the photos.
 */
export async function pairLivePhotos(
  reader: Pick<MetadataReader, 'read'>,
  plan: ImportPlan,
): Promise<LivePlan> {
  const limit = pLimit(AT_ONCE);
  const marksOf = async ({ source }: FoundFile) =>
    // The reader cannot open a path that is not UTF-8.
    typeof source === 'string' ? readMarks(reader, source) : noMarks;
  const folders = [...Map.groupBy(plan.files, ({ folder }) => folder).values()];
  const found = await limit.map(folders, (files) => pairFolder({ files, marksOf }, { files, marksOf }));
  const films = new Map(found.flat().map(([photo, film]) => [photo.path, film]));
  const taken = new Set(films.values());
  const metadata = new Map(plan.metadata);
  for (const [photo, { path }] of films) {
    const own = metadata.get(photo) ?? [];
    const more = (metadata.get(path) ?? []).filter(({ kind }) => !own.some((one) => one.kind === kind));
    if (more.length > 0) metadata.set(photo, [...own, ...more]);
    metadata.delete(path);
  }
  return { ...plan, metadata, films, files: plan.files.filter((file) => !taken.has(file)) };
}

import pLimit from 'p-limit';
import { stacksIn } from '../../content/stacks/series.ts';
import { headBytes, maySeries, noSeries, readSeries } from '../../content/stacks/series-marks.ts';
import { readHead } from '../../media/head.ts';
import type { MetadataReader } from '../../media/metadata/reader.ts';
import type { FoundFile } from './walk.ts';

/** Folders that are read concurrently. */
const AT_ONCE = 4;

/** Returns the groups of files of each folder that belong in one stack (STACK-6). */
export async function findStacks(
  reader: Pick<MetadataReader, 'read'>,
  files: readonly FoundFile[],
): Promise<FoundFile[][]> {
  const marksOf = async ({ source, name }: FoundFile) => {
    // The reader cannot open a path that is not UTF-8.
    if (typeof source !== 'string') return noSeries;
    const found = await readHead(source, headBytes(name)).catch(() => null);
    return found !== null && maySeries(found.head) ? readSeries(reader, source) : noSeries;
  };
  const folders = [...Map.groupBy(files, ({ folder }) => folder).values()];
  const stacks = await pLimit(AT_ONCE).map(folders, (inFolder) => stacksIn(inFolder, marksOf));
  return stacks.flat();
}

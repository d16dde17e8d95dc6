import { foldedStem, isPhotoName, isRawName } from '@vitrine/contract/sidecars';
import { byFormat } from '../live-photos/pair.ts';
import { noSeries, type SeriesMarks } from './series-marks.ts';

/** The files of one exposure: photos, of which one is on top, and raw files. */
interface Frame<File> {
  name: string;
  files: File[];
  hasPair: boolean;
}

/** Orders names with numbers by value: 2 before 10. */
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/** Returns whether a file has the name of a photo or a raw file. */
export const isExposureName = (fileName: string): boolean => isPhotoName(fileName) || isRawName(fileName);

/** Returns the exposures among the files of a folder, in natural order: files with one name are of the same exposure. */
function framesOf<File extends { readonly name: string }>(files: readonly File[]): Frame<File>[] {
  const candidates = files.filter(({ name }) => isExposureName(name));
  const frames = [...Map.groupBy(candidates, ({ name }) => foldedStem(name))].map(([name, group]) => {
    const photos = group.filter((file) => isPhotoName(file.name)).sort(byFormat);
    const raws = group.filter((file) => isRawName(file.name));
    return { name, files: [...photos, ...raws], hasPair: photos.length > 0 && raws.length > 0 };
  });
  return frames.sort((a, b) => inOrder(a.name, b.name));
}

/** Names of bursts: `00001IMG_00001_BURST20200101120000123_COVER.jpg`, and `IMG_20200101_120000_BURST2.jpg`. */
const namedByTime = /_burst(\d{14,})(?:_cover)?$/;
const numbered = /^(.+)_burst\d{1,4}(?:_cover)?$/;

/** Returns the common part of the names of a burst; null for other names. */
function burstName(foldedName: string): string | null {
  return namedByTime.exec(foldedName)?.[1] ?? numbered.exec(foldedName)?.[1] ?? null;
}

/** Returns whether a file has the name that phones give to photos of bursts. */
export function isBurstName(fileName: string): boolean {
  return isPhotoName(fileName) && burstName(foldedStem(fileName)) !== null;
}

interface Marked<File> extends Frame<File> {
  marks: SeriesMarks;
}

/** Groups the photos of each burst, the one that the phone has chosen on top. */
function bursts<File>(frames: readonly Marked<File>[]): Marked<File>[][] {
  const isCover = ({ name, marks }: Marked<File>) => /_cover$/.test(name) || marks.isCover;
  const groups = Map.groupBy(frames, ({ name, marks }) => marks.burst ?? burstName(name));
  groups.delete(null);
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => [...group.filter(isCover), ...group.filter((frame) => !isCover(frame))]);
}

/** The longest time between the beginnings of two exposures of a bracket. */
const APART_MS = 2000;

/** Groups the exposures of each bracket: those of one camera, one after the other, each exposed differently. */
function brackets<File>(frames: readonly Marked<File>[]): Marked<File>[][] {
  const exposures = frames
    .flatMap((frame) => (frame.marks.bracket === null ? [] : [{ frame, ...frame.marks.bracket }]))
    .sort((a, b) => inOrder(a.camera, b.camera) || a.atMs - b.atMs);
  const groups: (typeof exposures)[] = [];
  for (const exposure of exposures) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const follows =
      last !== undefined &&
      last.camera === exposure.camera &&
      exposure.atMs - last.atMs <= APART_MS &&
      group?.every(({ bias }) => bias !== exposure.bias);
    if (follows === true) group?.push(exposure);
    else groups.push([exposure]);
  }
  return groups.filter((group) => group.length > 1).map((group) => group.map(({ frame }) => frame));
}

/**
 * Returns the groups of files of a folder that belong in one stack, each with its top file first (STACK-6): bursts, brackets, and photos
 * with the raw files of the same names. Raw files of a burst or a bracket are in its group.
 */
export async function stacksIn<File extends { readonly name: string }>(
  files: readonly File[],
  marksOf: (file: File) => Promise<SeriesMarks>,
): Promise<File[][]> {
  const frames: Marked<File>[] = [];
  for (const frame of framesOf(files)) {
    const [first] = frame.files;
    frames.push({ ...frame, marks: first === undefined ? noSeries : await marksOf(first) });
  }
  const inBursts = bursts(frames);
  const taken = new Set(inBursts.flat());
  const inBrackets = brackets(frames.filter((frame) => !taken.has(frame)));
  for (const frame of inBrackets.flat()) taken.add(frame);
  const pairs = frames.filter((frame) => frame.hasPair && !taken.has(frame)).map((frame) => [frame]);
  return [...inBursts, ...inBrackets, ...pairs].map((group) => group.flatMap((frame) => frame.files));
}

import ExifReader from 'exifreader';

/** The metadata of photographs is at their beginning. */
const BEGINNING = 512 * 1024;

/** Returns when a photograph was taken, in milliseconds; when the file was changed last if it does not say so. */
export async function takenAt(file: File): Promise<number> {
  try {
    const tags = ExifReader.load(await file.slice(0, BEGINNING).arrayBuffer());
    const [, day, time] =
      /^(\d{4}:\d\d:\d\d) (\d\d:\d\d:\d\d)/.exec(tags.DateTimeOriginal?.description ?? '') ?? [];
    const taken = Date.parse(`${day?.replaceAll(':', '-')}T${time}`);
    if (!Number.isNaN(taken)) return taken;
  } catch {
    // The file has no metadata that can be read.
  }
  return file.lastModified;
}

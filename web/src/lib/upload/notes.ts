import { phrase } from '#lib/languages/phrase.ts';

/** File extensions, with the extensions that their bytes may have. */
const meant: readonly (readonly string[])[] = [
  ['jpg', 'jpeg', 'jpe', 'jfif'],
  ['png', 'apng'],
  ['gif'],
  ['webp'],
  ['avif', 'heic', 'heif'],
  ['tif', 'tiff', 'dng', 'nef', 'cr2', 'arw'],
  ['bmp'],
  ['psd', 'psb'],
  ['svg', 'xml'],
  ['pdf', 'ai'],
  ['mp4', 'm4v', 'mov', 'm4a', 'f4v', '3gp', '3g2'],
  ['webm', 'mkv', 'mka'],
  ['avi', 'wav'],
  ['mp3'],
  ['flac'],
  ['ogg', 'oga', 'ogv', 'opus'],
  ['zip', 'cbz'],
];

/** Explains why the name of a file does not match its content; undefined if it does or is not specific. */
export function nameNote(name: string, extension: string | null): string | undefined {
  const named = /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase();
  if (named === undefined || extension === null || named === extension) return undefined;
  const family = meant.find((extensions) => extensions.includes(named));
  if (family === undefined || family.includes(extension)) return undefined;
  return extension === 'txt'
    ? `Its name says ${named.toUpperCase()}, but it is text.`
    : `Its name says ${named.toUpperCase()}, but it is a ${extension.toUpperCase()} file.`;
}

/** Returns the warnings that are known before a file is sent. */
export function sizeNote(size: number): string | undefined {
  return size === 0 ? 'This file is empty.' : undefined;
}

/** The warning about a file that the user already has, with the titles of its assets. */
export function copyNote(titles: readonly string[]): string | undefined {
  const [first, ...more] = titles;
  if (first === undefined) return undefined;
  const name = first.trim() === '' ? phrase('an untitled file') : phrase(`“${first}”`);
  return more.length === 0
    ? `You have this file already: ${name}.`
    : `You have this file already: ${name} and ${more.length} more.`;
}

/** The extension of a file's name, with its dot. */
const atEnd = /\.[A-Za-z0-9]{1,10}$/;

/** Divides the name of a file into its stem and its extension, which is without its dot and null without one. */
export function divideName(name: string): { stem: string; extension: string | null } {
  const dotted = atEnd.exec(name)?.[0];
  if (dotted === undefined) return { stem: name, extension: null };
  return { stem: name.slice(0, -dotted.length), extension: dotted.slice(1) };
}

/** Returns the name of a file with this extension; null means none. */
export function nameWith(stem: string, extension: string | null): string {
  return extension === null ? stem : `${stem}.${extension}`;
}

/** Returns the extension of the bytes' type, else that of the uploaded file's name, else null. */
export function extensionOf(file: { extension: string | null; file_name: string }): string | null {
  return file.extension ?? divideName(file.file_name).extension?.toLowerCase() ?? null;
}

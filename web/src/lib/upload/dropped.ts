/** The content of a drop or paste: whether there is any, and the files once folders have been read. */
export interface Dropped {
  readonly isEmpty: boolean;
  readonly files: Promise<File[]>;
}

/** Names of files that operating systems add to folders. */
function isClutter(name: string): boolean {
  return name.startsWith('.') || /^(?:thumbs\.db|desktop\.ini)$/i.test(name);
}

/** Browsers return the entries of a folder in batches; an empty batch is the last. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return found.toSorted((a, b) => a.name.localeCompare(b.name));
    found.push(...some);
  }
}

async function filesBelow(entry: FileSystemEntry): Promise<File[]> {
  if (isClutter(entry.name)) return [];
  if (entry.isDirectory) {
    // The entry tells that it is a folder.
    const inside = await entriesOf(entry as FileSystemDirectoryEntry);
    return (await Promise.all(inside.map(filesBelow))).flat();
  }
  const file = await new Promise<File | null>((resolve) =>
    (entry as FileSystemFileEntry).file(resolve, () => resolve(null)),
  );
  return file === null ? [] : [file];
}

/**
 * Returns the files of a transfer, including those in folders. Must be called synchronously, because the transfer is
 * empty later.
 */
export function filesFrom(transfer: DataTransfer): Dropped {
  const found: (Promise<File[]> | File[])[] = [];
  for (const item of transfer.items) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry();
    const file = item.getAsFile();
    if (entry?.isDirectory === true) found.push(filesBelow(entry));
    else if (file !== null) found.push([file]);
  }
  return { isEmpty: found.length === 0, files: Promise.all(found).then((all) => all.flat()) };
}

/** Returns the picked files without system files from folders. A file that was picked itself is always included. */
export function withoutClutter(files: readonly File[]): File[] {
  return files.filter(({ webkitRelativePath }) => !webkitRelativePath.split('/').some(isClutter));
}

const textField =
  'textarea, [contenteditable], input:not([type="file"], [type="checkbox"], [type="radio"], [type="range"])';

/**
 * Returns whether a paste is text for the focused field. Programs add a picture of rich text, which is not meant as a
 * file then.
 */
export function isTextForField(types: readonly string[], target: EventTarget | null): boolean {
  if (!types.includes('text/plain') || !(target instanceof Element)) return false;
  return target.closest(textField) !== null;
}

export function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

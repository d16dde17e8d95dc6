/** Files out of a drop or a paste, and how many folders were left aside. */
export interface Dropped {
  readonly files: File[];
  readonly folders: number;
}

/** A browser offers a dropped folder as a file that cannot be read, so folders are told apart first. */
export function filesFrom(transfer: DataTransfer): Dropped {
  const files: File[] = [];
  let folders = 0;
  for (const item of transfer.items) {
    if (item.kind !== 'file') continue;
    if (item.webkitGetAsEntry()?.isDirectory === true) {
      folders += 1;
      continue;
    }
    const file = item.getAsFile();
    if (file !== null) files.push(file);
  }
  return { files, folders };
}

const textField =
  'textarea, [contenteditable], input:not([type="file"], [type="checkbox"], [type="radio"], [type="range"])';

/**
 * Whether a paste is text for the field it goes to. Programs put a picture of rich text beside the text itself, and
 * that picture is not meant as a file then.
 */
export function isTextForField(types: readonly string[], target: EventTarget | null): boolean {
  if (!types.includes('text/plain') || !(target instanceof Element)) return false;
  return target.closest(textField) !== null;
}

export function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

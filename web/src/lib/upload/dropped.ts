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

export function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

/** Files and folders that operating systems and storage devices add to folders. */
const systemNames =
  /^(?:@eaDir|#recycle|Thumbs\.db|ehthumbs(?:_vista)?\.db|desktop\.ini|__MACOSX|\$RECYCLE\.BIN|System Volume Information)$/i;

/** Returns whether a file or folder of this name was written by a system or a device. */
export function isSystemName(name: string): boolean {
  return systemNames.test(name) || name.startsWith('._') || name === '.DS_Store';
}

/** Decided by what the bytes are, never by whether a decoder happens to open them. */
const renderable = new Set([
  'image/jpeg',
  'image/png',
  'image/apng',
  'image/webp',
  'image/gif',
  'image/tiff',
  'image/avif',
  'image/svg+xml',
]);

/** Whether renditions can be made of these bytes. */
export function isRenderable(mime: string): boolean {
  return renderable.has(mime);
}

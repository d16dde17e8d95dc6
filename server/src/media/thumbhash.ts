import type { Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';

/** Returns the base64 thumbhash of a picture (MEDIA-11), about 30 bytes that describe a blurred preview. */
export async function thumbhashOf(picture: Sharp): Promise<string> {
  const { data, info } = await picture
    .resize(100, 100, { fit: 'inside', withoutEnlargement: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return Buffer.from(rgbaToThumbHash(info.width, info.height, data)).toString('base64');
}

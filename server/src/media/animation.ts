import { sentence } from '../platform/language/sentence.ts';
import { ffmpeg } from './ffmpeg/choose.ts';
import { readHead } from './head.ts';
import { BrokenFile, type SourceFile, type Still } from './still.ts';
import { sharp } from './tuned-sharp.ts';
import { makePoster } from './video/poster.ts';

/** Types whose frames libvips counts from their structure alone; 100,000 frames take 50 ms. */
const counted: readonly string[] = ['image/gif', 'image/webp'];

/** Returns whether an AVIF is an image sequence (`avis`, MIAF 7.2.3), which libvips cannot open. */
async function isAvifSequence(path: string): Promise<boolean> {
  const { head } = await readHead(path, 256);
  if (head.length < 16 || head.toString('latin1', 4, 8) !== 'ftyp') return false;
  const brands = head.subarray(8, Math.min(head.length, head.readUInt32BE(0)));
  for (let at = 0; at + 4 <= brands.length; at += 4) {
    // Skips the minor version between the major brand and the compatible brands.
    if (at !== 4 && brands.toString('latin1', at, at + 4) === 'avis') return true;
  }
  return false;
}

async function countFrames(path: string): Promise<number> {
  try {
    return (await sharp(path, { limitInputPixels: false }).metadata()).pages ?? 1;
  } catch {
    // Rendering reports what is wrong with the file.
    return 1;
  }
}

/**
 * Returns a picture unchanged and whether it is animated; browsers play the original of an animated one. FFmpeg draws
 * the first frame of an AVIF sequence. Throws BrokenFile if the sequence is damaged.
 */
export async function stillOfFrames(file: SourceFile, outDir: string): Promise<Still> {
  const { path, mime } = file;
  const animated = { picture: file, facts: { animated: true } };
  if (mime === 'image/apng') return animated;
  if (counted.includes(mime)) return (await countFrames(path)) > 1 ? animated : { picture: file };
  if (mime !== 'image/avif' || !(await isAvifSequence(path))) return { picture: file };
  const player = await ffmpeg();
  const source = { path, mime: 'video/mp4' };
  const { video } = await player.probe(source);
  if (video === null) throw new BrokenFile(sentence('it has no picture that can be decoded'));
  const { picture } = await makePoster(player, { source, video, atSeconds: 0 }, outDir);
  return { ...animated, picture, shape: { width: video.width, height: video.height } };
}

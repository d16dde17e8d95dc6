import type { MediaFacts } from '@vitrine/contract/media';
import { orNone, spaceOfJpeg } from './colour/tags.ts';
import { previewKind } from './renderable.ts';
import { withSource } from './source.ts';
import { nullIfBroken } from './still.ts';
import { hasFilm, photographs } from './stills/motion.ts';

/** What is known of a stored file without reading it. */
interface DrawnFile {
  mime: string;
  /** The version of the makers that last drew it. */
  makers_version: number;
  media: MediaFacts;
  /** Whether its text has East Asian characters. */
  has_east_asian_text: boolean;
  /** Whether its text has Arabic or Hebrew letters. */
  has_right_to_left_text: boolean;
}

/** What of a file a change draws otherwise: its previews with its tiles, or its streams. */
export type DrawnPart = 'previews' | 'streams';

/** A change of how files are drawn. */
interface Change {
  /** The version of the makers that has it. */
  version: number;
  part: DrawnPart;
  applies(file: DrawnFile): boolean;
  /** Tells from the bytes whether a file to which it may apply is drawn otherwise. */
  isDrawnAnew?(path: string): Promise<boolean>;
}

/** The part of a drawing that is searched, in bytes. */
const MOST_DRAWING = 16 * 1024 ** 2;

const isVideo = ({ mime }: DrawnFile) => previewKind(mime) === 'video';
const isOf =
  (...types: readonly string[]) =>
  ({ mime }: DrawnFile) =>
    types.includes(mime);

/** Returns whether the colours of a JPEG are described by its tags. */
const hasDescribedColours = async (path: string) =>
  (await nullIfBroken(withSource(path, orNone(spaceOfJpeg)))) !== null;

/** Codecs of films that may have transparent parts, a clean aperture or Dolby Vision; H.264 rarely has. */
const layeredCodecs: readonly string[] = ['vp8', 'vp9', 'prores', 'hevc', 'qtrle', 'png', 'ffv1'];

/** Returns whether a drawing refers to custom properties of CSS. */
const hasVariables = async (path: string) =>
  (await nullIfBroken(withSource(path, (source) => source.readUpTo(0, MOST_DRAWING).includes('var(')))) ===
  true;

/** The part of a film at either end that is searched for a timecode, in bytes. */
const MOST_FILM = 4 * 1024 ** 2;

/** Returns whether a film may have a timecode: a track of QuickTime and MP4, or a tag of Matroska. */
const hasTimecode = async (path: string) =>
  (await nullIfBroken(
    withSource(path, ({ size, readUpTo }) =>
      [0, Math.max(0, size - MOST_FILM)].some((at) => {
        const part = readUpTo(at, MOST_FILM);
        return part.includes('tmcd') || part.includes('TIMECODE');
      }),
    ),
  )) === true;

/**
 * Every change after which stored files are drawn again. A new one increases `MAKERS_VERSION` and has a line here; it
 * applies to as few files as it can.
 */
const changes: readonly Change[] = [
  {
    version: 2,
    part: 'previews',
    // Their colours, samples or pages.
    applies: isOf(
      ...['image/png', 'image/apng', 'image/avif', 'image/heic', 'image/heif', 'image/tiff', 'image/bmp'],
      ...['model/obj', 'model/ply'],
    ),
  },
  { version: 2, part: 'previews', applies: isVideo },
  { version: 3, part: 'previews', applies: isOf('image/jpeg'), isDrawnAnew: hasDescribedColours },
  { version: 3, part: 'previews', applies: isOf(...photographs), isDrawnAnew: hasFilm },
  {
    version: 3,
    part: 'previews',
    applies: ({ mime, has_east_asian_text }) => has_east_asian_text && previewKind(mime) === 'document',
  },
  { version: 3, part: 'previews', applies: isOf('image/svg+xml'), isDrawnAnew: hasVariables },
  {
    version: 3,
    part: 'previews',
    applies: (file) => isVideo(file) && layeredCodecs.includes(file.media.video_codec ?? ''),
  },
  // Their colours, frame rate and sound.
  { version: 3, part: 'streams', applies: (file) => isVideo(file) && file.media.has_video === true },
  // The timecode at which they start, which is read with the previews.
  {
    version: 4,
    part: 'previews',
    applies: (file) => isVideo(file) && file.media.start_timecode === undefined,
    isDrawnAnew: hasTimecode,
  },
  // Bars were drawn in place of these letters.
  {
    version: 5,
    part: 'previews',
    applies: (file) => file.has_right_to_left_text && isOf('text/plain', 'application/json')(file),
  },
];

/**
 * Returns the parts of a stored file that an earlier version drew otherwise. `read` calls a check with the file, which
 * only some changes need.
 */
export async function outdatedParts(
  file: DrawnFile,
  read: (check: (path: string) => Promise<boolean>) => Promise<boolean>,
): Promise<ReadonlySet<DrawnPart>> {
  const outdated = new Set<DrawnPart>();
  for (const { version, part, applies, isDrawnAnew } of changes) {
    if (file.makers_version >= version || outdated.has(part) || !applies(file)) continue;
    if (isDrawnAnew === undefined || (await read(isDrawnAnew))) outdated.add(part);
  }
  return outdated;
}

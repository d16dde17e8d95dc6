import type { AssetMedia } from './media.ts';

/** What every part of the product must know of a rendition. */
interface RenditionFacts {
  /** What it is for. */
  readonly purpose: string;
  /** The kinds of files that may have it. */
  readonly kinds: readonly AssetMedia['kind'][];
  /** Its possible media types. */
  readonly types: readonly string[];
  /** The longest edge of a picture, in pixels; null for everything else. */
  readonly largestSide: number | null;
  /**
   * How its bytes are served to callers who may get those of the file: below `variants/`, or in parts. A link that does not
   * offer originals serves no tiles, and a link with a watermark serves only the preview ladder, whose sizes an operator
   * configures and which are not listed here.
   */
  readonly served: 'whole' | 'tiles';
}

/**
 * The renditions besides the preview ladder. `{n}` and `{name}` stand for a number and for a file name. CONTRIBUTING says
 * what a new one needs besides an entry here.
 */
export const renditions = {
  poster: {
    purpose: 'The frame that a player shows before it plays.',
    kinds: ['video'],
    types: ['image/jpeg'],
    largestSide: 1920,
    served: 'whole',
  },
  'sprites.jpg': {
    purpose: 'Small frames at equal intervals, side by side, for the timeline of a player.',
    kinds: ['video'],
    types: ['image/jpeg'],
    largestSide: 1920,
    served: 'whole',
  },
  'sprites.vtt': {
    purpose: 'The times of the frames of `sprites.jpg`, as WebVTT.',
    kinds: ['video'],
    types: ['text/vtt'],
    largestSide: null,
    served: 'whole',
  },
  'hls/master.m3u8': {
    purpose: 'The playlist of the streams of a film, in several sizes.',
    kinds: ['video', 'image'],
    types: ['application/vnd.apple.mpegurl'],
    largestSide: null,
    served: 'whole',
  },
  'hls/{name}': {
    purpose: 'A stream of a film, and its playlist.',
    kinds: ['video', 'image'],
    types: ['application/vnd.apple.mpegurl', 'video/mp4'],
    largestSide: null,
    served: 'whole',
  },
  'motion.mp4': {
    purpose: 'The film of a motion photo.',
    kinds: ['image'],
    types: ['video/mp4'],
    largestSide: null,
    served: 'whole',
  },
  'film.mp4': {
    purpose: 'The film of a live photo, which phones store as a file of its own.',
    kinds: ['image'],
    types: ['video/mp4'],
    largestSide: null,
    served: 'whole',
  },
  'audio.m4a': {
    purpose: 'A sound that every browser plays.',
    kinds: ['audio', 'video', 'other'],
    types: ['audio/mp4'],
    largestSide: null,
    served: 'whole',
  },
  'waveform.png': {
    purpose: 'A drawing of the loudness of a sound.',
    kinds: ['audio', 'video', 'other'],
    types: ['image/png'],
    largestSide: 1600,
    served: 'whole',
  },
  'waveform.json': {
    purpose: 'The loudness of a sound, for players.',
    kinds: ['audio', 'video', 'other'],
    types: ['application/json'],
    largestSide: null,
    served: 'whole',
  },
  'page-{n}': {
    purpose: 'A page of a document or of a picture with several pages, for reading.',
    kinds: ['document', 'image'],
    types: ['image/webp'],
    largestSide: 1600,
    served: 'whole',
  },
  'text.html': {
    purpose: 'The text of a file with its colours and tables, without scripts.',
    kinds: ['document', 'other'],
    types: ['text/html; charset=utf-8'],
    largestSide: null,
    served: 'whole',
  },
  'contents.json': {
    purpose: 'The names and sizes of the files in an archive.',
    kinds: ['other'],
    types: ['application/json'],
    largestSide: null,
    served: 'whole',
  },
  'model.glb': {
    purpose: 'A model in the format that the viewer shows.',
    kinds: ['model'],
    types: ['model/gltf-binary'],
    largestSide: null,
    served: 'whole',
  },
  tiles: {
    purpose: 'Deep Zoom tiles of a picture that is larger than its largest preview.',
    kinds: ['image'],
    types: ['image/jpeg', 'image/webp'],
    largestSide: null,
    served: 'tiles',
  },
} as const satisfies Readonly<Record<string, RenditionFacts>>;

/** The name of a rendition in the registry. */
export type RenditionName = keyof typeof renditions;

type KeyOf<N extends RenditionName> = N extends 'page-{n}'
  ? `page-${number}`
  : N extends 'hls/{name}'
    ? `hls/${string}`
    : N;

/** The key of a rendition of a file, as in its address. */
export type RenditionKey = KeyOf<RenditionName>;

/** The key and the media type of a rendition, as they belong together. */
export type RenditionType = {
  [N in RenditionName]: { key: KeyOf<N>; contentType: (typeof renditions)[N]['types'][number] };
}[RenditionName];

/** Returns the registered name of a key; null for sizes of the preview ladder. */
export function renditionNameOf(key: string): RenditionName | null {
  if (/^page-\d+$/.test(key)) return 'page-{n}';
  // The cast states what `hasOwn` has checked.
  if (Object.hasOwn(renditions, key)) return key as RenditionName;
  return key.startsWith('hls/') ? 'hls/{name}' : null;
}

/** Returns whether a rendition is served below its key. */
export function isServedWhole(key: string): boolean {
  const name = renditionNameOf(key);
  return name === null || renditions[name].served === 'whole';
}

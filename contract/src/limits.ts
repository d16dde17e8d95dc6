/** Limits and lists that web pages need too. They are separate from the schemas, which are not sent to browsers. */

/** BATCH-1: the most objects that a request names by id. A query may match any number. */
export const mostNamed = 10_000;
/** BATCH-12: the most assets of one new post. */
export const mostInPost = 200;

/** APPROVAL-1: the acts that may need approvals. */
export const gates = ['publish', 'public_audience', 'links'] as const;
export type Gate = (typeof gates)[number];

/** DOWNLOAD-1: the kinds of files that a preset makes. */
export const downloadFormats = ['original', 'jpeg', 'png', 'webp', 'avif', 'tiff', 'mp4', 'pdf'] as const;
export type DownloadFormat = (typeof downloadFormats)[number];

/** Counting the posts of a collection stops at this number. */
export const countedPosts = { alone: 10_000, onList: 1_000 } as const;

/**
 * FIELD-20: the maximum length of a pattern in characters, the maximum number of steps of its program, and the
 * maximum of steps times characters of the longest value.
 */
export const patternBounds = { characters: 1000, steps: 2500, work: 1_000_000 } as const;

/** EXTRACT-1: the sources that the extraction pipeline can provide. */
export const extractionSources = [
  'title',
  'description',
  'creator',
  'copyright',
  'credit',
  'keywords',
  'rating',
  'label',
  'people',
  'capture_datetime',
  'camera_make',
  'camera_model',
  'lens',
  'exposure_time',
  'aperture',
  'iso',
  'focal_length',
  'gps_coordinates',
  'city',
  'country',
  'duration_seconds',
  'codec',
  'page_count',
  'font_family',
  'color_space',
] as const;
export type ExtractionSource = (typeof extractionSources)[number];

/** BOARD-6: the most strokes and points of a drawing. */
export const drawingBounds = { strokes: 2000, points: 10_000 } as const;

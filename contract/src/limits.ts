/**
 * Limits and lists that pages show as well. They stand apart from the schemas, which never reach a browser.
 */

/** Counting the posts of a collection stops here: one that shows as many or more says this number. */
export const countedPosts = { alone: 10_000, onList: 1_000 } as const;

/** How many characters a value has at most; a field may allow fewer. */
export const mostCharacters = { text: 2000, longtext: 50_000, rich_text: 100_000 } as const;

/**
 * FIELD-20: how long a pattern is, in characters; of how many steps its program is; and how many steps times
 * characters of the longest value a match may take.
 */
export const patternBounds = { characters: 1000, steps: 2500, work: 1_000_000 } as const;

/** EXTRACT-1: what the extraction pipeline can produce. */
export const extractionSources = [
  'title',
  'description',
  'creator',
  'copyright',
  'credit',
  'keywords',
  'rating',
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

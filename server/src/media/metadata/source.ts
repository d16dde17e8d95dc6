import type { ExtractionSource } from '@vitrine/contract/limits';

/** What a value of a source is, before a field makes it its own. */
export type ValueKind = 'text' | 'number' | 'moment' | 'list';

/** EXTRACT-1: the names a field may be wired to, with the kind of value each yields. */
export const sourceKinds = {
  title: 'text',
  description: 'text',
  creator: 'list',
  copyright: 'text',
  credit: 'text',
  keywords: 'list',
  rating: 'number',
  capture_datetime: 'moment',
  camera_make: 'text',
  camera_model: 'text',
  lens: 'text',
  exposure_time: 'text',
  aperture: 'number',
  iso: 'number',
  focal_length: 'number',
  gps_coordinates: 'text',
  city: 'text',
  country: 'text',
  duration_seconds: 'number',
  codec: 'text',
  page_count: 'number',
  font_family: 'text',
  color_space: 'text',
} as const satisfies Record<ExtractionSource, ValueKind>;

export type Source = ExtractionSource;

/** Where in the file a value stood; `file` for everything but the three standards of pictures. */
export type Origin = 'exif' | 'iptc' | 'xmp' | 'file';

/**
 * A value as it stood in a file. Numbers are numbers; a moment is ISO 8601, a day alone or with a time, and has an offset only
 * when the file tells one.
 */
export interface Found {
  value: string | number | string[];
  from: Origin;
}

export type FoundSources = { [S in Source]?: Found };

import type { ExtractionSource } from '@vitrine/contract/limits';

/** The type of a source's value, before it is converted for a field. */
export type ValueKind = 'text' | 'number' | 'moment' | 'list';

/** EXTRACT-1: the sources that a field may be mapped to, with the kind of their values. */
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

/** The standard that a value comes from; `file` for everything but the three picture standards. */
export type Origin = 'exif' | 'iptc' | 'xmp' | 'file';

/**
 * A value as found in a file. Numeric values are numbers. A moment is an ISO 8601 date, with or without a time, and
 * has an offset only if the file contains one.
 */
export interface Found {
  value: string | number | string[];
  from: Origin;
}

export type FoundSources = { [S in Source]?: Found };

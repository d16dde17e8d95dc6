import type { ExtractionSource } from '@vitrine/contract/limits';

/** EXTRACT-1: what a field may be mapped to. */
export type Source = ExtractionSource;

/** The standard that a value comes from; `file` for everything but the three picture standards. */
export type Origin = 'exif' | 'iptc' | 'xmp' | 'file';

/**
 * A value as found in a file. Numeric values are numbers. A moment is an ISO 8601 date, with or without a time, and
 * has an offset only if the file contains one.
 */
export interface ExtractedValue {
  value: string | number | string[];
  from: Origin;
}

export type ExtractedValues = { [S in Source]?: ExtractedValue };

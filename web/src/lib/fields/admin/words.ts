import type { ExtractionMode, FieldStatus, SubjectKind } from '@vitrine/contract/fields';
import type { ExtractionSource } from '@vitrine/contract/limits';
import type { TermStatus } from '@vitrine/contract/vocabulary';

interface InWords {
  readonly label: string;
  readonly explanation: string;
}

export const subjectWords: Readonly<Record<SubjectKind, string>> = {
  asset: 'Assets',
  collection: 'Collections',
};

/** Labels of the statuses of a field (FIELD-7). */
export const statusWords: Readonly<Record<FieldStatus, InWords>> = {
  active: { label: 'In use', explanation: 'Offered wherever the field belongs.' },
  deprecated: {
    label: 'Deprecated',
    explanation: 'Still works and keeps its values; a replacement can be named.',
  },
  archived: { label: 'Archived', explanation: 'Removed from all forms. Its values stay.' },
};

/** Labels of the statuses of a term (TERM-2). */
export const termStatusWords: Readonly<Record<TermStatus, InWords>> = {
  active: { label: 'In use', explanation: 'Offered for new values.' },
  deprecated: {
    label: 'Deprecated',
    explanation: 'No longer offered; still shown where it was chosen.',
  },
  archived: {
    label: 'Archived',
    explanation: 'Not offered. Where a successor is named, writing this term stores the successor.',
  },
};

/** Labels of the extraction sources. */
export const sourceWords: Readonly<Record<ExtractionSource, string>> = {
  title: 'Title',
  description: 'Description',
  creator: 'Creator',
  copyright: 'Copyright',
  credit: 'Credit',
  keywords: 'Keywords',
  rating: 'Rating',
  label: 'Colour label',
  people: 'People',
  capture_datetime: 'When it was taken',
  camera_make: 'Camera make',
  camera_model: 'Camera model',
  lens: 'Lens',
  exposure_time: 'Exposure time',
  aperture: 'Aperture',
  iso: 'ISO speed',
  focal_length: 'Focal length',
  gps_coordinates: 'Coordinates',
  city: 'City',
  country: 'Country',
  duration_seconds: 'Duration in seconds',
  codec: 'Codec',
  page_count: 'Number of pages',
  font_family: 'Font family',
  color_space: 'Colour space',
};

/** Labels of the extraction modes (EXTRACT-3). */
export const modeWords: Readonly<Record<Exclude<ExtractionMode, ''>, string>> = {
  skip_if_set: 'Keep the existing value',
  replace: 'Replace the value',
  append: 'Append to the value',
  prepend: 'Prepend to the value',
};

import { type Static, Type } from 'typebox';
import { bytes, operation } from './operation.ts';
import { closed, Uuid } from './values.ts';

/** ANNOTATION-13: frames per second of an export; `df` counts in drop-frame timecode. */
export const ExportRate = Type.Enum([
  '23.976',
  '24',
  '25',
  '29.97df',
  '29.97ndf',
  '30',
  '50',
  '59.94df',
  '59.94ndf',
  '60',
]);
export type ExportRate = Static<typeof ExportRate>;

const params = closed({ id: Uuid });
const query = closed({ rate: Type.Optional(ExportRate) });
const shared = { method: 'GET', tag: 'Comments', door: 'public', scope: 'read', params, query } as const;

/** ANNOTATION-12. */
export const exportPostAnnotations = operation({
  ...shared,
  id: 'exportPostAnnotations',
  path: '/posts/{id}/annotations.csv',
  summary: 'Export the annotations of a post as CSV',
  description:
    'Returns a row for each annotation that the caller may read. Those of films have a timecode and a frame, at `rate` or the rate of the film. A text that a spreadsheet would run as a formula begins with an apostrophe.',
  responses: { 200: bytes('text/csv') },
  errors: ['not-found'],
});

export const exportAssetAnnotations = operation({
  ...shared,
  id: 'exportAssetAnnotations',
  path: '/assets/{id}/annotations.csv',
  summary: 'Export the annotations of an asset as CSV',
  description:
    'Returns a row for each annotation of the asset in posts that the caller may read, in the order of the file. The timecode of a film starts at the timecode of the file.',
  responses: { 200: bytes('text/csv') },
  errors: ['not-found'],
});

const timeline = { ...shared, errors: ['file-without-timeline', 'not-found'] } as const;

export const exportEdl = operation({
  ...timeline,
  id: 'exportEdl',
  path: '/assets/{id}/annotations.edl',
  summary: 'Export the annotations of a film as EDL',
  description:
    'Returns an edit decision list (CMX 3600) with an event and a locator for each annotation of the current version, from the timecode of the file on. A file that is neither a film nor a sound returns 409.',
  responses: { 200: bytes('text/plain') },
});

export const exportOtio = operation({
  ...timeline,
  id: 'exportOtio',
  path: '/assets/{id}/annotations.otio',
  summary: 'Export the annotations of a film for OpenTimelineIO',
  description:
    'Returns a timeline with the film as its only clip and a marker for each annotation of the current version, whose times count from the beginning of the file. A file that is neither a film nor a sound returns 409.',
  responses: { 200: bytes('application/json') },
});

export const exportFcpxml = operation({
  ...timeline,
  id: 'exportFcpxml',
  path: '/assets/{id}/annotations.fcpxml',
  summary: 'Export the annotations of a film as FCPXML',
  description:
    'Returns a project of Final Cut Pro with the film as its only clip and a marker for each annotation of the current version, whose times count from the beginning of the file. A file that is neither a film nor a sound returns 409.',
  responses: { 200: bytes('application/xml') },
});

/** ANNOTATION-14. */
const sheet = {
  description:
    'Returns a contact sheet: each file, or page of a document, with numbered pins, outlines and drawings, and the numbered texts below it. At most 500 annotations, each with 2,000 characters of its text.',
  responses: { 200: bytes('application/pdf') },
  errors: ['not-found', 'picture-decoding-stopped'],
} as const;

export const exportPostSheet = operation({
  ...shared,
  ...sheet,
  id: 'exportPostSheet',
  path: '/posts/{id}/annotations.pdf',
  summary: 'Export the annotations of a post as PDF',
});

export const exportAssetSheet = operation({
  ...shared,
  ...sheet,
  id: 'exportAssetSheet',
  path: '/assets/{id}/annotations.pdf',
  summary: 'Export the annotations of an asset as PDF',
});

/** ANNOTATION-21. */
export const exportAnnotatedPdf = operation({
  method: 'GET',
  tag: 'Comments',
  door: 'public',
  scope: 'read',
  params,
  id: 'exportAnnotatedPdf',
  path: '/assets/{id}/annotated.pdf',
  summary: 'Export a PDF with its annotations',
  description:
    'Returns a copy of a PDF in which the annotations of the current version are annotations of the PDF, with author, text and time. At most 1,000 annotations. Other files, and PDFs that are encrypted, damaged or larger than 200 MiB, return 409.',
  responses: { 200: bytes('application/pdf') },
  errors: ['file-not-annotatable', 'not-found', 'picture-decoding-stopped'],
});

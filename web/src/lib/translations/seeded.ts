import { phrase } from '#lib/languages/phrase.ts';

type Labels = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * The labels and descriptions of a new library in the language of the page, by code and then by the stored English text (LANGUAGE-6).
 * That text begins with a small letter here, because the build would translate it otherwise.
 */
const seeded = {
  field: {
    title: { title: 'Title' },
    description: { description: 'Description' },
    keywords: { keywords: 'Keywords' },
    creator: { creator: 'Creator' },
    copyright: { copyright: 'Copyright' },
    credit: { 'credit line': 'Credit line' },
    capture_datetime: { 'date taken': 'Date taken' },
    rating: { rating: 'Rating' },
    label: { label: 'Label' },
    people: { people: 'People' },
    camera_make: { 'camera make': 'Camera make' },
    camera_model: { camera: 'Camera' },
    lens: { lens: 'Lens' },
    exposure_time: { exposure: 'Exposure' },
    aperture: { aperture: 'Aperture' },
    focal_length: { 'focal length': 'Focal length' },
    gps_coordinates: { coordinates: 'Coordinates' },
    city: { city: 'City' },
    country: { country: 'Country' },
    duration_seconds: { duration: 'Duration' },
    page_count: { pages: 'Pages' },
  },
  fieldDescription: {
    rating: { 'from -1, rejected, to 5': 'From -1, rejected, to 5' },
    exposure_time: { 'in seconds': 'In seconds' },
    aperture: { 'as an f-number': 'As an f-number' },
    focal_length: { 'in millimetres': 'In millimetres' },
    duration_seconds: { 'in seconds': 'In seconds' },
  },
  role: {
    admin: { administrator: 'Administrator' },
    member: { member: 'Member' },
    viewer: { viewer: 'Viewer' },
  },
  roleDescription: {
    admin: { 'runs the library and sees everything in it.': 'Runs the library and sees everything in it.' },
    member: { 'uploads, posts, comments and collects.': 'Uploads, posts, comments and collects.' },
    viewer: { 'looks at what others share.': 'Looks at what others share.' },
  },
  state: {
    wip: { draft: 'Draft', 'work in progress': 'Work in progress' },
    published: { published: 'Published' },
    review: { 'in review': 'In review' },
    approved: { approved: 'Approved' },
  },
  kind: {
    image: { image: 'Image' },
    document: { document: 'Document' },
    video: { video: 'Video' },
    audio: { audio: 'Audio' },
    model: { '3D model': phrase('3D model') },
    font: { font: 'Font' },
    other: { other: 'Other' },
  },
  preset: {
    'jpeg-2000': { 'jPEG, 2,000 pixels': phrase('JPEG, 2,000 pixels') },
    video: { 'video for the web': 'Video for the web' },
  },
} as const satisfies Record<string, Labels>;

/** Returns the label in the language of the page if it is the one that a new library has, otherwise the label itself. */
export function seededLabel(of: keyof typeof seeded, code: string, label: string): string {
  const labels: Labels = seeded[of];
  const first = label.charAt(0);
  // A label that begins with a small letter is an operator's.
  if (first !== first.toUpperCase() || !Object.hasOwn(labels, code)) return label;
  const known = new Map(Object.entries(labels[code] ?? {}));
  return known.get(first.toLowerCase() + label.slice(1)) ?? label;
}

/** Returns the object with its label as `seededLabel` shows it. */
export function withSeededLabel<Labelled extends { readonly code: string; readonly label: string }>(
  of: keyof typeof seeded,
  labelled: Labelled,
): Labelled {
  return { ...labelled, label: seededLabel(of, labelled.code, labelled.label) };
}

/** The codes of the kinds of a new library, by their numbers from 1. */
const kindCodes = ['image', 'document', 'video', 'audio', 'model', 'font', 'other'];

/** Returns the label of a kind that is known by its number, as `seededLabel` shows it. */
export function seededKind(number: number, label: string): string {
  return seededLabel('kind', kindCodes[number - 1] ?? '', label);
}

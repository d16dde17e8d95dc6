import { phrase } from '#lib/languages/phrase.ts';

/**
 * The labels with which a library begins, by code and then by the English label, whose first letter is small so that it is not
 * translated. A label in the language of the page stands for the English one; an operator
 * who changes a label gets exactly what they wrote (LANGUAGE-6).
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
  role: {
    admin: { administrator: 'Administrator' },
    member: { member: 'Member' },
    viewer: { viewer: 'Viewer' },
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
} as const satisfies Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>;

type Seeded = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns the label in the language of the page if it is the one that a new library has. */
export function seededLabel(of: keyof typeof seeded, code: string, label: string): string {
  const labels: Seeded = seeded[of];
  const [first = '', ...rest] = label;
  // The operator's own spelling is no label of a new library.
  if (first !== first.toUpperCase() || !Object.hasOwn(labels, code)) return label;
  const known = new Map(Object.entries(labels[code] ?? {}));
  return known.get(first.toLowerCase() + rest.join('')) ?? label;
}

/** Returns the thing with its label in the language of the page if it is the one that a new library has. */
export function withSeededLabel<Thing extends { readonly code: string; readonly label: string }>(
  of: keyof typeof seeded,
  thing: Thing,
): Thing {
  return { ...thing, label: seededLabel(of, thing.code, thing.label) };
}

import { escapeHtml } from '../../../platform/escape-html.ts';
import type { AssetRow, ExportedValue } from './asset-rows.ts';

/** The namespace of what standard properties cannot hold. */
const ownNamespace = 'urn:vitrine:xmp:1.0/';

export const namespaces = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  dc: 'http://purl.org/dc/elements/1.1/',
  xmp: 'http://ns.adobe.com/xap/1.0/',
  photoshop: 'http://ns.adobe.com/photoshop/1.0/',
  exif: 'http://ns.adobe.com/exif/1.0/',
  lr: 'http://ns.adobe.com/lightroom/1.0/',
  Iptc4xmpExt: 'http://iptc.org/std/Iptc4xmpExt/2008-02-29/',
  vitrine: ownNamespace,
};

/** Escapes text, without the characters that XML 1.0 cannot represent. */
function text(value: string): string {
  const legal = value
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '');
  // A parser would turn it into a line feed.
  return escapeHtml(legal).replaceAll('\r', '&#13;');
}

const simple = (name: string, value: string) => `<${name}>${text(value)}</${name}>`;

function list(name: string, form: 'Bag' | 'Seq', values: readonly string[]): string {
  const items = values.map((value) => `<rdf:li>${text(value)}</rdf:li>`).join('');
  return `<${name}><rdf:${form}>${items}</rdf:${form}></${name}>`;
}

function localised(name: string, value: string): string {
  return `<${name}><rdf:Alt><rdf:li xml:lang="x-default">${text(value)}</rdf:li></rdf:Alt></${name}>`;
}

/** Writes degrees as XMP does: `48,51.504000N`. */
function degrees(value: number, positive: string, negative: string): string {
  const size = Math.abs(value);
  const whole = Math.floor(size);
  return `${whole},${((size - whole) * 60).toFixed(6)}${value < 0 ? negative : positive}`;
}

function position([place = '']: readonly string[]): string[] {
  const [latitude = Number.NaN, longitude = Number.NaN] = place.split(',').map(Number);
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return [];
  return [
    simple('exif:GPSLatitude', degrees(latitude, 'N', 'S')),
    simple('exif:GPSLongitude', degrees(longitude, 'E', 'W')),
  ];
}

/** Standard properties with the values of a field. */
interface Standard {
  /** With their prefixes. */
  readonly names: readonly string[];
  write(values: readonly string[]): string[];
}

const single = (name: string): Standard => ({
  names: [name],
  write: ([value = '']) => [simple(name, value)],
});
const listed = (name: string, form: 'Bag' | 'Seq'): Standard => ({
  names: [name],
  write: (values) => [list(name, form, values)],
});

/** The standard properties of fields by their sources. */
const standards: ReadonlyMap<string, Standard> = new Map([
  ['creator', listed('dc:creator', 'Seq')],
  ['copyright', { names: ['dc:rights'], write: ([value = '']) => [localised('dc:rights', value)] }],
  ['credit', single('photoshop:Credit')],
  ['rating', single('xmp:Rating')],
  ['label', single('xmp:Label')],
  ['people', listed('Iptc4xmpExt:PersonInImage', 'Bag')],
  ['capture_datetime', single('photoshop:DateCreated')],
  ['city', single('photoshop:City')],
  ['country', single('photoshop:Country')],
  ['gps_coordinates', { names: ['exif:GPSLatitude', 'exif:GPSLongitude'], write: position }],
]);

/** Returns the names of the standard properties that fields with this source have. */
export function standardNames(source: string): readonly string[] {
  if (source === 'description') return ['dc:description'];
  if (source === 'keywords') return ['dc:subject'];
  return standards.get(source)?.names ?? [];
}

/** A value with the code of its field, for every field. */
function ownValue({ code, label, type, values }: ExportedValue): string {
  const about = `vitrine:code="${text(code)}" vitrine:label="${text(label)}" vitrine:type="${text(type)}"`;
  return `<rdf:li><rdf:Description ${about}>${list('vitrine:values', 'Seq', values)}</rdf:Description></rdf:li>`;
}

/** Writes the sidecar of an asset: what other programs know as standard properties, and every field in one of ours. */
export function xmpOf({ title, description, tags, values }: AssetRow): string {
  const words = [
    ...tags,
    ...values.filter(({ source }) => source === 'keywords').flatMap((value) => value.values),
  ];
  const keywords = [...new Set(words)];
  const trees = values.flatMap(({ path }) => (path === undefined ? [] : [path.join('|')]));
  const parts = [
    title === '' ? [] : [localised('dc:title', title)],
    description === '' ? [] : [localised('dc:description', description)],
    keywords.length === 0 ? [] : [list('dc:subject', 'Bag', keywords)],
    trees.length === 0 ? [] : [list('lr:hierarchicalSubject', 'Bag', trees)],
    ...values.map((value) => standards.get(value.source)?.write(value.values) ?? []),
    values.length === 0
      ? []
      : [`<vitrine:fields><rdf:Bag>${values.map(ownValue).join('')}</rdf:Bag></vitrine:fields>`],
  ].flat();
  const declared = Object.entries(namespaces).map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`);
  const [rdf, ...others] = declared;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF ${rdf ?? ''}><rdf:Description rdf:about=""\n  ${others.join('\n  ')}>`,
    ...parts.map((part) => ` ${part}`),
    '</rdf:Description></rdf:RDF></x:xmpmeta>',
    '',
  ].join('\n');
}

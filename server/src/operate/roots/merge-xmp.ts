import { createRequire } from 'node:module';
import type { Document, Element } from '@xmldom/xmldom';
import { readBoundedXml } from '../../platform/xml/bounded-xml.ts';
import { namespaces } from '../export/entries/xmp.ts';

const require = createRequire(import.meta.url);

/** Sidecars of photo programs have a few hundred kB, with the history of a picture. */
const limits = { mostBytes: 4 * 1024 * 1024, mostDepth: 60, comments: true, instructions: true };

/** Loaded when a sidecar is first merged. */
function dom() {
  return require('@xmldom/xmldom') as typeof import('@xmldom/xmldom');
}

function parse(xml: string): Document {
  return new (dom().DOMParser)().parseFromString(xml, 'text/xml');
}

function rdfOf(document: Document): Element | null {
  return document.getElementsByTagNameNS(namespaces.rdf, 'RDF').item(0);
}

function descriptionsIn(rdf: Element): Element[] {
  return childrenOf(rdf).filter(
    ({ namespaceURI, localName }) => namespaceURI === namespaces.rdf && localName === 'Description',
  );
}

function childrenOf(element: Element): Element[] {
  return Array.from(element.childNodes).filter((node): node is Element => node.nodeType === 1);
}

/** The name of a property in the form `{namespace}name`. */
const nameOf = (node: { namespaceURI: string | null; localName: string | null }) =>
  `{${node.namespaceURI ?? ''}}${node.localName ?? ''}`;

const namespaceOf = new Map(Object.entries(namespaces));

/** Returns the full name of a property such as `dc:title`. */
function expanded(property: string): string {
  const [prefix = '', local = ''] = property.split(':');
  return `{${namespaceOf.get(prefix) ?? ''}}${local}`;
}

/** Removes properties of a description, which may be elements or attributes. */
function removeProperties(description: Element, names: ReadonlySet<string>): void {
  for (const child of childrenOf(description)) if (names.has(nameOf(child))) description.removeChild(child);
  for (const attribute of Array.from(description.attributes))
    if (names.has(nameOf(attribute))) description.removeAttributeNode(attribute);
}

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

/** Returns the items of lists with this name in a description. */
function itemsOf(description: Element, name: string): Element[] {
  return childrenOf(description)
    .filter((child) => nameOf(child) === name)
    .flatMap((child) => Array.from(child.getElementsByTagNameNS(namespaces.rdf, 'li')));
}

/** Adds items of an existing description to the lists of ours: other languages of a text, and what lists have in addition. */
function keepItems(old: Element, ours: Element, added: ReadonlySet<string>): void {
  for (const property of childrenOf(ours)) {
    const name = nameOf(property);
    const [list] = childrenOf(property);
    if (list === undefined) continue;
    const texts = new Set(itemsOf(ours, name).map(({ textContent }) => textContent));
    for (const item of itemsOf(old, name)) {
      const language = item.getAttributeNS(xmlNamespace, 'lang');
      const isOther = language !== null && language !== '' && language !== 'x-default';
      const isMore = added.has(name) && !texts.has(item.textContent);
      if (isOther || isMore) list.appendChild(list.ownerDocument?.importNode(item, true) ?? item);
    }
  }
}

/** What becomes of properties such as `dc:title`. */
interface Merging {
  /** The asset no longer has them. */
  removed: readonly string[];
  /** Lists whose other items stay. */
  added: readonly string[];
  /** No person has edited them, so those of the existing sidecar stay. */
  kept: readonly string[];
}

function hasProperty(description: Element, name: string): boolean {
  return [...childrenOf(description), ...Array.from(description.attributes)].some(
    (node) => nameOf(node) === name,
  );
}

/** The existing file is not XMP, so its properties cannot be kept. */
class NotXmp extends Error {}

/**
 * Returns a sidecar with the properties of `own` and all others of the existing one, also those that Vitrine does not know.
 * Throws NotXmp or XmlFault if the existing one cannot be read.
 */
export function mergeXmp(existing: string, own: string, { removed, added, kept }: Merging): string {
  readBoundedXml(existing, limits);
  const [into, from] = [parse(existing), parse(own)];
  const rdf = rdfOf(into);
  const ours = rdfOf(from);
  const [description] = ours === null ? [] : descriptionsIn(ours);
  if (rdf === null || description === undefined) throw new NotXmp('the sidecar beside it has no RDF');
  const before = descriptionsIn(rdf);
  const stays = kept.map(expanded).filter((name) => before.some((old) => hasProperty(old, name)));
  removeProperties(description, new Set(stays));
  const names = new Set([...childrenOf(description).map(nameOf), ...removed.map(expanded)]);
  names.add(expanded('vitrine:fields'));
  const lists = new Set(added.map(expanded));
  for (const old of before) {
    keepItems(old, description, lists);
    removeProperties(old, names);
  }
  const about = before[0]?.getAttributeNS(namespaces.rdf, 'about') ?? '';
  description.setAttributeNS(namespaces.rdf, 'rdf:about', about);
  rdf.appendChild(into.importNode(description, true));
  // A description that had only properties of ours is empty now.
  for (const old of before) {
    const properties = Array.from(old.attributes).filter(
      ({ namespaceURI }) =>
        namespaceURI !== namespaces.rdf && namespaceURI !== 'http://www.w3.org/2000/xmlns/',
    );
    if (childrenOf(old).length === 0 && properties.length === 0) rdf.removeChild(old);
  }
  return new (dom().XMLSerializer)().serializeToString(into);
}

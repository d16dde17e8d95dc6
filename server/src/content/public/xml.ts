import { createRequire } from 'node:module';
import type { Element } from '@xmldom/xmldom';

const require = createRequire(import.meta.url);

/** An element to write: its attributes, then its text or its children. */
export interface Xml {
  name: string;
  attributes?: Readonly<Record<string, string | undefined>>;
  text?: string;
  children?: readonly Xml[];
}

/** Removes the characters that XML 1.0 cannot represent, even escaped. */
function legal(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '');
}

/** Writes a complete document whose elements all belong to one namespace. */
export function writeXml(namespace: string, root: Xml): string {
  // Loaded with the first document, which few libraries write. `require` returns an untyped module.
  const { DOMImplementation, XMLSerializer } = require('@xmldom/xmldom') as typeof import('@xmldom/xmldom');
  const document = new DOMImplementation().createDocument(namespace, '');
  const build = ({ name, attributes = {}, text, children = [] }: Xml): Element => {
    const element = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined) element.setAttribute(key, legal(value));
    }
    if (text !== undefined) element.appendChild(document.createTextNode(legal(text)));
    for (const child of children) element.appendChild(build(child));
    return element;
  };
  document.appendChild(build(root));
  return `<?xml version="1.0" encoding="utf-8"?>\n${new XMLSerializer().serializeToString(document)}\n`;
}

import { type SaxesOptions, SaxesParser, type SaxesTagNS } from 'saxes';
import { sentence, WordedError } from '../language/sentence.ts';

/** XML that is malformed, too large, or has parts that are not allowed. */
export class XmlFault extends WordedError {}

export interface XmlLimits {
  mostBytes: number;
  mostDepth: number;
  /** Comments split texts, which parsers then read differently. */
  comments: boolean;
  /** Processing instructions, such as those around XMP. */
  instructions?: boolean;
}

/** Receives the elements of a document in order. */
export interface XmlReader {
  open?(tag: SaxesTagNS): void;
  text?(text: string): void;
  close?(tag: SaxesTagNS): void;
}

const MOST_ATTRIBUTES = 100;

/**
 * Reads a document in linear time and bounded memory; throws XmlFault for one that is not well-formed, exceeds the limits,
 * or has a document type or, unless allowed, instructions. Call it before a parser that builds a tree, which a crafted
 * document can block.
 */
export function readBoundedXml(xml: string, limits: XmlLimits, reader: XmlReader = {}): void {
  if (Buffer.byteLength(xml) > limits.mostBytes) throw new XmlFault(sentence('the document is too large'));
  const parser = new SaxesParser<SaxesOptions & { xmlns: true }>({ xmlns: true });
  const refuse = (part: string) => () => {
    throw new XmlFault(`the document has ${part}`);
  };
  let depth = 0;
  let attributes = 0;
  parser.on('error', ({ message }) => {
    throw new XmlFault(message.slice(0, 200));
  });
  parser.on('doctype', refuse('a document type'));
  if (limits.instructions !== true) parser.on('processinginstruction', refuse('an instruction'));
  if (!limits.comments) parser.on('comment', refuse('a comment'));
  parser.on('opentagstart', () => {
    attributes = 0;
    depth += 1;
    if (depth > limits.mostDepth) throw new XmlFault(sentence('the document is nested too deeply'));
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MOST_ATTRIBUTES) throw new XmlFault('an element has too many attributes');
  });
  parser.on('opentag', (tag) => reader.open?.(tag));
  parser.on('text', (text) => reader.text?.(text));
  parser.on('closetag', (tag) => {
    depth -= 1;
    reader.close?.(tag);
  });
  parser.write(xml).close();
}

import { decodePDFRawStream, PDFDocument, PDFName, PDFRawStream } from '@cantoo/pdf-lib';

/** Returns the Latin texts of a contact sheet. */
export async function textOfSheet(bytes: ArrayBuffer | Uint8Array): Promise<string> {
  const document = await PDFDocument.load(bytes);
  const subtype = PDFName.of('Subtype');
  return document.context
    .enumerateIndirectObjects()
    .flatMap(([, object]) => (object instanceof PDFRawStream && !object.dict.has(subtype) ? [object] : []))
    .map((stream) => Buffer.from(decodePDFRawStream(stream).decode()).toString('latin1'))
    .flatMap((content) => [...content.matchAll(/<([0-9a-f]+)> Tj/gi)])
    .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
    .join('\n');
}

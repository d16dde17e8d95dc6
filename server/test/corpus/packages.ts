import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { downloadZip } from 'client-zip';
import { pack } from 'tar-stream';

type Bytes = Uint8Array<ArrayBuffer>;

/** A ZIP of these texts and bytes; the first entry stays first, as EPUB and OpenDocument require. */
export async function zip(entries: Readonly<Record<string, string | Uint8Array>>): Promise<Bytes> {
  const lastModified = new Date('2026-01-01T12:00:00Z');
  const files = Object.entries(entries).map(([name, input]) => ({ name, input, lastModified }));
  return new Uint8Array(await downloadZip(files).arrayBuffer());
}

/** A tar archive of these texts, plain or compressed. */
export async function tar(entries: Readonly<Record<string, string>>, compressed: boolean): Promise<Bytes> {
  const archive = pack();
  for (const [name, text] of Object.entries(entries)) archive.entry({ name }, text);
  archive.finalize();
  return Uint8Array.from(await buffer(compressed ? archive.pipe(createGzip()) : archive));
}

const relations = (...rows: readonly string[]) =>
  `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows.join('')}</Relationships>`;
const officeType = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
const thumbnailType = 'http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail';

/** An Office document with a main part and, if given, its thumbnail. */
async function office(main: string, type: string, parts: Record<string, string>, thumbnail?: Uint8Array) {
  const overrides = Object.keys(parts)
    .filter((name) => name.endsWith('.xml'))
    .map(
      (name) => `<Override PartName="/${name}" ContentType="${name === main ? type : 'application/xml'}"/>`,
    );
  return zip({
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="jpeg" ContentType="image/jpeg"/>${overrides.join('')}</Types>`,
    '_rels/.rels': relations(
      `<Relationship Id="r1" Type="${officeType}" Target="${main}"/>`,
      thumbnail === undefined
        ? ''
        : `<Relationship Id="r2" Type="${thumbnailType}" Target="docProps/thumbnail.jpeg"/>`,
    ),
    ...parts,
    ...(thumbnail === undefined ? {} : { 'docProps/thumbnail.jpeg': thumbnail }),
  });
}

const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

export function docx(thumbnail?: Uint8Array): Promise<Bytes> {
  const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const body = ['Harbour brief', 'Four mornings, one boat, no people.'].map(paragraph).join('');
  return office(
    'word/document.xml',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
    {
      'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`,
    },
    thumbnail,
  );
}

const open = (kind: string, content: string) =>
  zip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'META-INF/manifest.xml': `<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.${kind}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
    'content.xml': `<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"><office:body><office:text>${content}</office:text></office:body></office:document-content>`,
  });

export function odt(): Promise<Bytes> {
  return open('text', '<text:p>Harbour brief</text:p><text:p>Four mornings, one boat, no people.</text:p>');
}

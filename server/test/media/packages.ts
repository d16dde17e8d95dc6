import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { pack } from 'tar-stream';
import { type Bytes, fileOf, numbers } from './binary.ts';

/** A ZIP of these files; the first and tiny ones are stored, the others deflated. `claim` is a false size for those. */
export function zip(files: Readonly<Record<string, string | Uint8Array>>, claim?: number): Bytes {
  const locals: Bytes[] = [];
  const directory: Bytes[] = [];
  let offset = 0;
  for (const [index, [name, content]] of Object.entries(files).entries()) {
    const plain = Buffer.from(content);
    const isStored = index === 0 || plain.length < 20;
    const packed = isStored ? plain : deflateRawSync(plain);
    // 7:08 on 6 May 2024.
    const made = [(7 << 11) | (8 << 5), (44 << 9) | (5 << 5) | 6];
    const size = isStored ? plain.length : (claim ?? plain.length);
    const fields = Buffer.concat([
      // Names are in UTF-8.
      numbers('hhhhh', 20, 0x800, isStored ? 0 : 8, ...made),
      numbers('iiihh', crc32(plain), packed.length, size, Buffer.byteLength(name), 0),
    ]);
    const local = fileOf('PK\x03\x04', fields, Buffer.from(name), packed);
    const place = numbers('hhhii', 0, 0, 0, 0, offset);
    directory.push(fileOf('PK\x01\x02\x14\x00', fields, place, Buffer.from(name)));
    locals.push(local);
    offset += local.length;
  }
  const central = fileOf(...directory);
  const end = numbers('hhhhiih', 0, 0, directory.length, directory.length, central.length, offset, 0);
  return fileOf(...locals, central, 'PK\x05\x06', end);
}

/** A tar archive of these texts. */
export async function tar(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = pack();
  for (const [name, text] of Object.entries(files))
    archive.entry({ name, mtime: new Date('2024-05-06T07:08:10Z') }, text);
  archive.finalize();
  return buffer(archive);
}

/** A tar archive of empty files whose names are in an encoding, as programs without UTF-8 write it. */
export async function tarNamed(encoding: string, names: readonly string[]): Promise<Buffer> {
  const encoded = names.map((name) => iconv.encode(name, encoding));
  const stand = (index: number) => `${index}`.padStart(encoded[index]?.length ?? 0, 'x');
  const bytes = await tar(Object.fromEntries(names.map((_, index) => [stand(index), ''])));
  for (const [index, name] of encoded.entries()) {
    const header = bytes.indexOf(stand(index), 0, 'latin1');
    name.copy(bytes, header);
    // The checksum counts its own field as spaces.
    bytes.fill(' ', header + 148, header + 156);
    const sum = bytes.subarray(header, header + 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, header + 148, 'latin1');
  }
  return bytes;
}

const types = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const relations = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

/** A DOCX with these paragraphs, and an external picture at `linked`, which Word would fetch. */
export function docx(
  paragraphs: readonly string[],
  { linked, more = {} }: { linked?: string; more?: Record<string, string | Uint8Array> } = {},
): Bytes {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const picture =
    linked === undefined
      ? ''
      : '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="3000000" cy="3000000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="p1"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="3000000" cy="3000000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>';
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${escaped(text)}</w:t></w:r></w:p>`).join('');
  const links =
    linked === undefined
      ? {}
      : {
          'word/_rels/document.xml.rels': `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="p1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="${linked}" TargetMode="External"/></Relationships>`,
        };
  return zip({
    '[Content_Types].xml': types,
    '_rels/.rels': relations,
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><w:body>${body}${picture}</w:body></w:document>`,
    ...links,
    ...more,
  });
}

/** An ODT with this text and, if given, a thumbnail. */
export function odt(text: string, thumbnail?: Uint8Array): Bytes {
  const mime = 'application/vnd.oasis.opendocument.text';
  return zip({
    mimetype: mime,
    'META-INF/manifest.xml': `<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="${mime}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
    'content.xml': `<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"><office:body><office:text><text:p>${text}</text:p></office:text></office:body></office:document-content>`,
    ...(thumbnail === undefined ? {} : { 'Thumbnails/thumbnail.png': thumbnail }),
  });
}

/** Documents for tests, built by hand. */
import { type Bytes, fileOf } from './binary.ts';

/** Creates a PDF with a valid cross-reference table from objects, the first of which is the catalogue. */
export function pdfOf(objects: readonly string[], trailer = ''): Bytes {
  let body = '%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = body.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  body += `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R ${trailer}>>\nstartxref\n${table}\n%%EOF\n`;
  return fileOf(body);
}

function stream(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

/** A PDF with a line of text and a red bar in the upper left corner on each page. `box` is in points. */
export function pdf(lines: readonly string[], box: readonly [number, number] = [420, 595]): Bytes {
  const [width, height] = box;
  const pages = lines.flatMap((line, index) => [
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    stream(`1 0 0 rg 0 ${height - 40} 200 40 re f 0 g BT /F1 24 Tf 30 ${height - 120} Td (${line}) Tj ET`),
  ]);
  const kids = lines.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${lines.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages,
  ]);
}

/** A PDF that requires a password: an empty one does not open it. */
export function lockedPdf(): Bytes {
  const key = 'ab'.repeat(32);
  const encrypt = `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -4 >> /ID [<00><00>]`;
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>',
    ],
    encrypt,
  );
}

/** A few hundred bytes that claim a million pages. */
export function pdfOfClaimedPages(): Bytes {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 1] >>',
  ]);
}

/** A PDF with a line in an East Asian font that it does not contain, as programs of that region write it. */
export function pdfWithoutFont(
  text: string,
  { font, encoding, ordering }: { font: string; encoding: string; ordering: string },
): Bytes {
  const codes = Buffer.from(text, 'utf16le').swap16().toString('hex');
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    stream(`BT /F 40 Tf 20 30 Td <${codes}> Tj ET`),
    `<< /Type /Font /Subtype /Type0 /BaseFont /${font} /Encoding /${encoding} /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /${font} /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> /DW 1000 >>`,
  ]);
}

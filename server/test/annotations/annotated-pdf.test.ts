import { type PDFiumDocument, PDFiumLibrary, type PDFiumPage } from '@hyzyla/pdfium';
import type { Anchor } from '@vitrine/contract/annotations';
import { basePath } from '@vitrine/contract/operations';
import type { Stroke } from '@vitrine/contract/strokes';
import { expect, test } from 'vitest';
import { lockedPdf, pdf, pdfOf } from '../media/documents.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile, sha256 } from '../support/pictures.ts';

const library = await openLibrary();
const [mara, ines, otto] = await library.joinAll('mara', 'ines', 'otto');
const pdfium = await PDFiumLibrary.init();

async function bytesOf(caller: Visitor, path: string) {
  const headers = { cookie: `user=${caller.cookie() ?? ''}` };
  const answer = await fetch(`${library.address}${basePath}${path}`, { headers });
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** An annotation as PDFium reads it. */
interface Read {
  subtype: number;
  /** Left, top, right and bottom in the coordinates of the file. */
  rect: number[];
  contents: string;
  author: string;
  created: string;
  state: string;
}

/** PDFium's names for the kinds of annotations. */
const kinds = { note: 1, square: 5, stamp: 13, ink: 15 };

/** The part of PDFium that reads annotations, which the package hides. */
interface Reader {
  HEAPU8: Uint8Array;
  wasmExports: { malloc(size: number): number };
  _FPDFPage_GetAnnotCount(page: number): number;
  _FPDFPage_GetAnnot(page: number, index: number): number;
  _FPDFAnnot_GetSubtype(annotation: number): number;
  _FPDFAnnot_GetRect(annotation: number, rect: number): number;
  _FPDFAnnot_GetStringValue(annotation: number, key: number, buffer: number, size: number): number;
}

/** Reads the annotations of a page with PDFium, which did not write them. */
function annotationsOf(page: PDFiumPage): Read[] {
  const { module, pageIdx } = page as unknown as { module: Reader; pageIdx: number };
  const room = module.wasmExports.malloc(4096);
  const key = module.wasmExports.malloc(64);
  return Array.from({ length: module._FPDFPage_GetAnnotCount(pageIdx) }, (_, index) => {
    const annotation = module._FPDFPage_GetAnnot(pageIdx, index);
    const text = (name: string) => {
      module.HEAPU8.set(Buffer.from(`${name}\0`), key);
      const size = module._FPDFAnnot_GetStringValue(annotation, key, room, 4096);
      return Buffer.from(module.HEAPU8.slice(room, room + size - 2)).toString('utf16le');
    };
    const [contents, author, created, state] = ['Contents', 'T', 'CreationDate', 'State'].map(text);
    module._FPDFAnnot_GetRect(annotation, room);
    const rect = new Float32Array(module.HEAPU8.slice(room, room + 16).buffer);
    return {
      subtype: module._FPDFAnnot_GetSubtype(annotation),
      rect: [...rect],
      contents: contents ?? '',
      author: author ?? '',
      created: created ?? '',
      state: state ?? '',
    };
  });
}

async function readCopy(caller: Visitor, id: string): Promise<{ document: PDFiumDocument; bytes: Buffer }> {
  const { status, bytes } = await bytesOf(caller, `/assets/${id}/annotated.pdf`);
  expect(status, bytes.toString('utf8', 0, 200)).toBe(200);
  return { document: await pdfium.loadDocument(bytes), bytes };
}

async function documentInPost(bytes: Uint8Array<ArrayBuffer>) {
  const asset = await upload(mara, bytes, { title: 'Report' });
  const post = (await publish(mara, [asset], { visibility: 'public' })).id;
  const annotate = (caller: Visitor, anchor: Anchor, body: string, strokes?: Stroke[]) =>
    caller.ok('createAnnotation', {
      params: { id: post },
      body: { asset_id: asset.id, anchor, body, ...(strokes === undefined ? {} : { strokes }) },
    });
  return { asset, post, annotate };
}

// ANNOTATION-21
test('a copy of a PDF has its comments as annotations, after the bytes of the original', async () => {
  const original = pdf(['One', 'Two']);
  const { asset, post, annotate } = await documentInPost(original);
  await annotate(ines, { kind: 'page', page: 1, x: 0.5, y: 0.25 }, 'Grüße, 世界\nand more');
  const region = await annotate(otto, { kind: 'page', page: 2, x: 0.1, y: 0.2, w: 0.5, h: 0.25 }, 'Too long');
  await otto.ok('resolveComment', { params: { id: region.id } });
  await annotate(ines, { kind: 'page', page: 2 }, 'Like this', [
    {
      points: [
        [0.2, 0.6],
        [0.4, 0.7, 0.8],
      ],
      color: '#0000ff',
    },
    { tool: 'text', points: [[0.2, 0.8]], text: '世界', width: 0.05 },
  ]);
  const words: Stroke = { tool: 'text', points: [[0.2, 0.9]], text: 'Only words' };
  await ines.ok('createAnnotation', {
    params: { id: post },
    body: { asset_id: asset.id, anchor: { kind: 'page', page: 2 }, strokes: [words] },
  });

  const { document, bytes } = await readCopy(ines, asset.id);
  expect(bytes.subarray(0, original.length).equals(Buffer.from(original))).toBe(true);
  const [first, second] = [annotationsOf(document.getPage(0)), annotationsOf(document.getPage(1))];
  expect(first).toEqual([
    expect.objectContaining({
      subtype: kinds.note,
      contents: 'Grüße, 世界\nand more',
      author: 'ines',
      state: '',
    }),
  ]);
  expect(first[0]?.created).toMatch(/^D:\d{14}Z$/);
  const [left = 0, top = 0, right = 0, bottom = 0] = first[0]?.rect ?? [];
  expect([(left + right) / 2, (top + bottom) / 2]).toEqual([210, expect.closeTo(595 * 0.75, 1)]);
  expect(second.map(({ subtype, state }) => [subtype, state])).toEqual([
    [kinds.square, ''],
    [kinds.note, 'Completed'],
    [kinds.ink, ''],
    [kinds.stamp, ''],
  ]);
  expect(second[2]).toMatchObject({ contents: 'Like this', author: 'ines' });
  // The file is as it was.
  expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
    file_hash: sha256(original),
  });
});

// LANGUAGE-4
test('a copy of a PDF says in the language of the reader that a comment is resolved', async () => {
  const { asset, annotate } = await documentInPost(pdf(['Report']));
  const { id } = await annotate(ines, { kind: 'page', page: 1 }, 'Done');
  await ines.ok('resolveComment', { params: { id } });
  await ines.ok('updatePreferences', { body: { language: 'de' } });
  const { document } = await readCopy(ines, asset.id);
  expect(annotationsOf(document.getPage(0)).map(({ contents }) => contents)).toEqual(['Done', 'Erledigt']);
  await ines.ok('updatePreferences', { body: { language: '' } });
});

// ANNOTATION-21
test.each([0, 90, 180, 270])(
  'a region is where people saw it on a page that is turned by %i degrees and cropped',
  async (turn) => {
    const original = pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 500] /CropBox [50 100 350 500] /Rotate ${turn} >>`,
    ]);
    const { asset, annotate } = await documentInPost(original);
    await annotate(ines, { kind: 'page', page: 1, x: 0.1, y: 0.2, w: 0.5, h: 0.3 }, 'Here');
    const { document } = await readCopy(ines, asset.id);
    const { data, width, height } = await document.getPage(0).render({ scale: 2, render: 'bitmap' });
    const isDrawn = (x: number, y: number) => {
      const [column, row] = [Math.round(x * width), Math.round(y * height)];
      const around = [-2, -1, 0, 1, 2];
      // Red without green, whichever way its parts are ordered.
      return around.some((by) =>
        around.some((down) => (data[((row + down) * width + column + by) * 4 + 1] ?? 255) < 120),
      );
    };
    const edges = [
      [0.1, 0.35],
      [0.6, 0.35],
      [0.3, 0.2],
      [0.3, 0.5],
    ] as const;
    expect(edges.map(([x, y]) => isDrawn(x, y))).toEqual([true, true, true, true]);
    expect(isDrawn(0.3, 0.35)).toBe(false);
    expect(isDrawn(0.8, 0.8)).toBe(false);
  },
);

// ANNOTATION-21
test('other files, encrypted documents and those that the caller may not get are refused', async () => {
  const text = await upload(mara, plainFile('words'));
  const locked = await upload(mara, lockedPdf());
  const broken = await upload(mara, pdf(['x']).slice(0, 60));
  await publish(mara, [text, locked, broken], { visibility: 'public' });
  for (const { id } of [text, locked, broken])
    expect((await bytesOf(ines, `/assets/${id}/annotated.pdf`)).status).toBe(409);
  const hidden = await upload(mara, pdf(['x']), { sensitivity: 'restricted' });
  expect((await bytesOf(ines, `/assets/${hidden.id}/annotated.pdf`)).status).toBe(404);
});

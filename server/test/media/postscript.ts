import { tiff } from '../support/pictures.ts';
import { type Bytes, fileOf, numbers } from './binary.ts';

const program = (lines: readonly string[], more: readonly string[] = []) =>
  [
    '%!PS-Adobe-3.0 EPSF-3.0',
    '%%BoundingBox: 0 0 200 100',
    '%%Pages: 1',
    '%%EndComments',
    ...more,
    ...lines,
    'showpage',
    '%%EOF',
    '',
  ].join('\n');

/** A red rectangle of 200 by 100 points with a word in it. */
const field = [
  '0.9 0.1 0.1 setrgbcolor 0 0 200 100 rectfill',
  '0 setgray /Helvetica findfont 20 scalefont setfont 20 40 moveto (Tangerine) show',
];

/** Encapsulated PostScript with these lines, or with the red rectangle. */
export function eps(lines: readonly string[] = field): Bytes {
  return new TextEncoder().encode(program(lines));
}

/** The same with a preview of 16 by 8 pixels in comments: black on the left, white on the right. */
export function epsi(): Bytes {
  const rows = Array.from({ length: 8 }, () => '% FF00');
  const preview = ['%%BeginPreview: 16 8 1 8', ...rows, '%%EndPreview'];
  return new TextEncoder().encode(program(field, preview));
}

/** A DOS EPS with a preview in TIFF, 320 by 160 pixels. */
export async function dosEps(): Promise<Bytes> {
  const [text, picture] = [eps(), await tiff(320, 160)];
  const places = [30, text.length, 0, 0, 30 + text.length, picture.length];
  return fileOf(numbers('iiiiiiih', 0xc6d3d0c5, ...places, 0xffff), text, picture);
}

/** A page of plain PostScript, as it is sent to printers. */
export function postscript(): Bytes {
  return new TextEncoder().encode(['%!PS-Adobe-3.0', ...field, 'showpage', ''].join('\n'));
}

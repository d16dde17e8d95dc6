import { type Bytes, fileOf, tiffOf } from './binary.ts';

let made = 0;

/** A few kilobytes of SVG that take minutes to draw: chained noise filters over a large area. Each one is unique. */
export function slowSvg({ filters = 40, edge = 4000 } = {}): Bytes {
  made += 1;
  const chain = Array.from(
    { length: filters },
    (_, index) =>
      `<feTurbulence type="turbulence" baseFrequency="0.0${(index % 9) + 1}" numOctaves="10" seed="${index}"/>`,
  );
  return new TextEncoder().encode(
    `<svg xmlns="http://www.w3.org/2000/svg" id="n${made}" width="${edge}" height="${edge}"><filter id="f" x="0" y="0" width="1" height="1">${chain.join('')}</filter><rect width="${edge}" height="${edge}" filter="url(#f)"/></svg>`,
  );
}

/** A grey TIFF of 60,000 x 60,000 pixels with a single strip of ten bytes. */
export function tiffBomb(): Bytes {
  const edges = { 256: 60_000, 257: 60_000, 258: 8, 259: 1, 262: 1 };
  return fileOf(tiffOf({ ...edges, 273: 8, 277: 1, 278: 60_000, 279: 10 }), Buffer.alloc(10));
}

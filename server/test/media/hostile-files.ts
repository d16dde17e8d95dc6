type Bytes = Uint8Array<ArrayBuffer>;

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
  const entries = [
    [256, 60_000],
    [257, 60_000],
    [258, 8],
    [259, 1],
    [262, 1],
    [273, 8],
    [277, 1],
    [278, 60_000],
    [279, 10],
  ];
  const bytes = Buffer.alloc(8 + 2 + entries.length * 12 + 4 + 10);
  bytes.write('II*\0', 0, 'latin1');
  bytes.writeUInt32LE(8, 4);
  bytes.writeUInt16LE(entries.length, 8);
  for (const [index, [tag = 0, value = 0]] of entries.entries()) {
    const at = 10 + index * 12;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(4, at + 2);
    bytes.writeUInt32LE(1, at + 4);
    bytes.writeUInt32LE(value, at + 8);
  }
  return Uint8Array.from(bytes);
}

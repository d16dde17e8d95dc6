import sharp from 'sharp';

/** Draws a JPEG between a plain and a noisy picture. */
export function photograph(width: number, height: number, seed: number): Promise<Buffer> {
  const small = Uint8Array.from(
    new Array<number>(24 * 18 * 3).keys(),
    (at) => (at * 73 + seed * 131 + (at % 7) * seed) % 256,
  );
  return sharp(small, { raw: { width: 24, height: 18, channels: 3 } })
    .resize(width, height, { fit: 'fill', kernel: 'cubic' })
    .jpeg({ quality: 88 })
    .toBuffer();
}

/** Creates a picture with the detail of a photograph, so that its previews have a realistic size. */
export function picture(seed: number): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 20 } as const;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="600"><rect width="800" height="600" fill="hsl(${seed * 7},60%,60%)"/><circle cx="${100 + seed * 10}" cy="300" r="150" fill="hsl(${seed * 31},70%,40%)"/></svg>`;
  return sharp({ create: { width: 400, height: 300, channels: 3, background: '#808080', noise } })
    .png()
    .toBuffer()
    .then((grain) => sharp(grain).resize(800, 600).toBuffer())
    .then((input) =>
      sharp(Buffer.from(svg))
        .composite([{ input, blend: 'soft-light' }])
        .jpeg()
        .toBuffer(),
    );
}

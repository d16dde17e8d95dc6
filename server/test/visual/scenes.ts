import sharp from 'sharp';

/** Returns a picture of a few large shapes; the number determines their places and colours. */
export async function scene(seed: number, width = 640, height = 480): Promise<Uint8Array<ArrayBuffer>> {
  let state = seed * 2_654_435_761;
  const next = (most: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % most;
  };
  const colour = () => `rgb(${next(256)},${next(256)},${next(256)})`;
  const shapes = Array.from({ length: 9 }, () =>
    next(2) === 0
      ? `<circle cx="${next(width)}" cy="${next(height)}" r="${40 + next(160)}" fill="${colour()}"/>`
      : `<rect x="${next(width)}" y="${next(height)}" width="${60 + next(300)}" height="${40 + next(240)}" fill="${colour()}" transform="rotate(${next(90)})"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="${colour()}"/>${shapes.join('')}</svg>`;
  return Uint8Array.from(await sharp(Buffer.from(svg)).jpeg({ quality: 92 }).toBuffer());
}

/** Returns a changed and recompressed copy of a picture. */
export async function altered(bytes: Uint8Array, how: 'small' | 'bright' | 'cropped' | 'grey') {
  const picture = sharp(bytes);
  const { width, height } = await picture.metadata();
  if (how === 'small') picture.resize(180);
  if (how === 'bright') picture.modulate({ brightness: 1.25 });
  if (how === 'grey') picture.greyscale();
  if (how === 'cropped') {
    const edge = { left: Math.round(width * 0.05), top: Math.round(height * 0.05) };
    picture.extract({ ...edge, width: Math.round(width * 0.9), height: Math.round(height * 0.9) });
  }
  return Uint8Array.from(await picture.jpeg({ quality: 60 }).toBuffer());
}

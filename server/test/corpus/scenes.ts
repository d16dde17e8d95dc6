import sharp from 'sharp';

/** A landscape that shows decoder errors: orientation, exchanged red and blue, clipped highlights, cut edges. */
export function scene(width: number, height: number, label: string) {
  const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 160 100" preserveAspectRatio="none">
    <defs><linearGradient id="sky" x2="0" y2="1"><stop offset="0" stop-color="#1d4e89"/><stop offset="1" stop-color="#f7c59f"/></linearGradient></defs>
    <rect width="160" height="100" fill="url(#sky)"/>
    <circle cx="122" cy="30" r="12" fill="#fff3c4"/>
    <path d="M0 78 L40 40 L70 66 L98 34 L160 80 V100 H0 Z" fill="#2f4858"/>
    <path d="M0 88 Q40 74 80 86 T160 84 V100 H0 Z" fill="#33658a"/>
    <path d="M34 84 h26 l-5 8 h-16 z" fill="#c1121f"/><path d="M46 62 v20 h14 z" fill="#ffffff"/>
    <rect x="1" y="1" width="158" height="98" fill="none" stroke="#f26419" stroke-width="2"/>
    <text x="8" y="14" font-family="sans-serif" font-size="8" fill="#fff">${label}</text></svg>`;
  return sharp(Buffer.from(drawn)).removeAlpha();
}

/** The backgrounds of texts in the accent colour in each theme; `web/src/app.css` has the same values. */
export const themeBackgrounds = {
  light: ['#fbfbfa', '#ffffff', '#f0f0ee'],
  dark: ['#111113', '#1a1a1d', '#1f1f23'],
} as const;
export type ThemeName = keyof typeof themeBackgrounds;

/** The accent colours of a library that has not chosen any. */
export const defaultAccents: Readonly<Record<ThemeName, string>> = { light: '#0d6d69', dark: '#5fcac3' };

/** APPEARANCE-10: the contrast that texts need (WCAG 2.2, 1.4.3). */
export const LEAST_CONTRAST = 4.5;

/** Returns the relative luminance of a colour such as `#0d6d69` (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colours, from 1 to 21. */
export function contrastOf(first: string, second: string): number {
  const [lower = 0, higher = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (higher + 0.05) / (lower + 0.05);
}

/** Returns the least contrast of an accent colour with the pages of a theme, for texts in it and on it. */
export function accentContrast(theme: ThemeName, colour: string): number {
  return Math.min(...themeBackgrounds[theme].map((background) => contrastOf(colour, background)));
}

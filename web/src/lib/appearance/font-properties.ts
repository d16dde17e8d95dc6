import type { Appearance } from '@vitrine/contract/appearance';

export type FontSlot = 'brand_font' | 'display_font' | 'body_font' | 'mono_font';
export type Fonts = Pick<Appearance, FontSlot>;

/** The CSS `font-family` list of each font. */
export const stacks = {
  inter: '"Inter Variable", ui-sans-serif, system-ui, sans-serif',
  'system-sans': 'ui-sans-serif, system-ui, sans-serif',
  'system-serif': 'ui-serif, Georgia, Cambria, "Times New Roman", Times, serif',
  'system-mono': 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
};

/** Returns the `font-family` list of a font id; undefined for the default font and for unknown ids. */
export function stackOf(id: string): string | undefined {
  return Object.entries(stacks).find(([name]) => name === id)?.[1];
}

/** Returns the custom properties, which `fonts.css` reads, for the chosen fonts and colours; none for an empty slot. */
export function propertiesOf(
  appearance: Fonts & Pick<Appearance, 'accent_light' | 'accent_dark'>,
): [name: string, value: string | undefined][] {
  return [
    ['--chosen-brand', stackOf(appearance.brand_font)],
    ['--chosen-display', stackOf(appearance.display_font)],
    ['--chosen-body', stackOf(appearance.body_font)],
    ['--chosen-mono', stackOf(appearance.mono_font)],
    ['--chosen-accent-light', appearance.accent_light],
    ['--chosen-accent-dark', appearance.accent_dark],
  ];
}

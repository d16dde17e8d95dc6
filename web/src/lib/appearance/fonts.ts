import type { Appearance } from '@vitrine/contract/appearance';

/** A font that is available without another server. */
interface Font {
  readonly id: string;
  readonly label: string;
  /** A CSS `font-family` list. */
  readonly stack: string;
}

type FontSlot = 'brand_font' | 'display_font' | 'body_font' | 'mono_font';
export type Fonts = Pick<Appearance, FontSlot>;

/** The fonts for the slots: the bundled font, and those that every system has. */
const catalogue: readonly Font[] = [
  { id: 'inter', label: 'Inter', stack: '"Inter Variable", ui-sans-serif, system-ui, sans-serif' },
  { id: 'system-sans', label: 'System sans-serif', stack: 'ui-sans-serif, system-ui, sans-serif' },
  {
    id: 'system-serif',
    label: 'System serif',
    stack: 'ui-serif, Georgia, Cambria, "Times New Roman", Times, serif',
  },
  {
    id: 'system-mono',
    label: 'System fixed-width',
    stack: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  },
];

interface SlotWords {
  readonly slot: FontSlot;
  readonly label: string;
  /** The label of an empty slot. */
  readonly usual: string;
  readonly hint: string;
}

/** The four slots in their order in the form. */
export const slots: readonly SlotWords[] = [
  { slot: 'brand_font', label: 'Name', usual: 'Same as the text', hint: 'Beside the logo.' },
  {
    slot: 'display_font',
    label: 'Headings',
    usual: 'Same as the text',
    hint: 'Titles of pages and sections.',
  },
  { slot: 'body_font', label: 'Text', usual: 'Default (Inter)', hint: 'Body text and buttons.' },
  {
    slot: 'mono_font',
    label: 'Code',
    usual: 'Default (system fixed-width)',
    hint: 'Codes and technical values.',
  },
];

/** Returns the `font-family` list of a font id; undefined for the default font and for unknown ids. */
export function stackOf(id: string): string | undefined {
  return catalogue.find((font) => font.id === id)?.stack;
}

/** Returns the choices for a slot. An unknown current id stays in the list, so that saving does not lose it. */
export function choicesFor({ usual }: Pick<SlotWords, 'usual'>, current: string) {
  const known = catalogue.map(({ id, label }) => ({ value: id, label }));
  const foreign = current !== '' && stackOf(current) === undefined;
  return [
    { value: '', label: usual },
    ...known,
    ...(foreign ? [{ value: current, label: `${current} (not among this page’s fonts)` }] : []),
  ];
}

/** The custom property of each slot, which `fonts.css` reads. */
const properties: Readonly<Record<FontSlot, string>> = {
  brand_font: '--chosen-brand',
  display_font: '--chosen-display',
  body_font: '--chosen-body',
  mono_font: '--chosen-mono',
};

/** Returns the custom properties for the chosen fonts and colours; none for an empty slot. */
export function propertiesOf(
  appearance: Fonts & Pick<Appearance, 'accent_light' | 'accent_dark'>,
): [name: string, value: string | undefined][] {
  return [
    ...slots.map(({ slot }): [string, string | undefined] => [properties[slot], stackOf(appearance[slot])]),
    ['--chosen-accent-light', appearance.accent_light],
    ['--chosen-accent-dark', appearance.accent_dark],
  ];
}

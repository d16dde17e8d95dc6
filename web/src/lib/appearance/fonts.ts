import type { Appearance } from '@vitrine/contract/appearance';

/** A font a page can be set in without asking another server for it. */
interface Font {
  readonly id: string;
  readonly label: string;
  /** A CSS `font-family` list. */
  readonly stack: string;
}

type FontSlot = 'brand_font' | 'display_font' | 'body_font' | 'mono_font';
export type Fonts = Pick<Appearance, FontSlot>;

/** What the slots may hold: the font that comes with the pages, and those every system has. */
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
  /** What the empty slot means. */
  readonly usual: string;
  readonly hint: string;
}

/** The four slots, in the order they are set. */
export const slots: readonly SlotWords[] = [
  { slot: 'brand_font', label: 'Name', usual: 'Same as the text', hint: 'Beside the logo.' },
  {
    slot: 'display_font',
    label: 'Headings',
    usual: 'Same as the text',
    hint: 'Titles of pages and sections.',
  },
  { slot: 'body_font', label: 'Text', usual: 'As shipped (Inter)', hint: 'Everything to read and to press.' },
  {
    slot: 'mono_font',
    label: 'Code',
    usual: 'As shipped (system fixed-width)',
    hint: 'Codes and technical values.',
  },
];

/** The `font-family` list a slot asks for; undefined for the page's own, also where the id is not of this catalogue. */
export function stackOf(id: string): string | undefined {
  return catalogue.find((font) => font.id === id)?.stack;
}

/** What a slot can be set to. An id from elsewhere stays in the list, so that saving does not lose it. */
export function choicesFor({ usual }: Pick<SlotWords, 'usual'>, current: string) {
  const known = catalogue.map(({ id, label }) => ({ value: id, label }));
  const foreign = current !== '' && stackOf(current) === undefined;
  return [
    { value: '', label: usual },
    ...known,
    ...(foreign ? [{ value: current, label: `${current} (not among this page’s fonts)` }] : []),
  ];
}

/** Slots and the custom properties that `fonts.css` reads. */
const properties: Readonly<Record<FontSlot, string>> = {
  brand_font: '--chosen-brand',
  display_font: '--chosen-display',
  body_font: '--chosen-body',
  mono_font: '--chosen-mono',
};

/** Custom properties for the fonts chosen; a slot left empty sets none. */
export function propertiesOf(fonts: Fonts): [name: string, stack: string | undefined][] {
  return slots.map(({ slot }) => [properties[slot], stackOf(fonts[slot])]);
}

import { type FontSlot, stackOf, type stacks } from './font-properties.ts';

/** A font that is available without another server. */
interface Font {
  readonly id: keyof typeof stacks;
  readonly label: string;
}

/** The fonts for the slots: the bundled font, and those that every system has. */
const catalogue: readonly Font[] = [
  { id: 'inter', label: 'Inter' },
  { id: 'system-sans', label: 'System sans-serif' },
  { id: 'system-serif', label: 'System serif' },
  { id: 'system-mono', label: 'System fixed-width' },
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
  { slot: 'body_font', label: 'Body text', usual: 'Default (Inter)', hint: 'Body text and buttons.' },
  {
    slot: 'mono_font',
    label: 'Code',
    usual: 'Default (system fixed-width)',
    hint: 'Codes and technical values.',
  },
];

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

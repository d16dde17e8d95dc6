type Part = string | number | readonly Part[];
type Text = string | readonly Part[];

const partsOf = (text: Text): readonly Part[] => (typeof text === 'string' ? [text] : text);

/** Returns the text with `values` in the places that its translation gives them. */
export function fill(text: Text, values: readonly unknown[] = []): string {
  return partsOf(text)
    .map((part) => (typeof part === 'number' ? values[part] : part))
    .join('');
}

/** The parts of a text with elements, for the component that renders it. */
fill.c = partsOf;
/** The text of an element within another text; its first part is the number of the element. */
fill.x = (text: readonly Part[], values?: readonly unknown[]) => fill(text.slice(1), values);
/** The forms of a plural. */
fill.p = (forms: unknown) => forms;

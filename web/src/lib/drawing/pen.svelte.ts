import { usualColor } from '@vitrine/contract/stroke-shapes';

export type Tool = 'pen' | 'arrow' | 'rect' | 'text';

/** What the next stroke is drawn with. */
export interface Pen {
  tool: Tool;
  color: string;
  /** The index of a width in `widths`. */
  weight: number;
}

export const tools: readonly { readonly tool: Tool; readonly label: string; readonly key: string }[] = [
  { tool: 'pen', label: 'Pen', key: 'p' },
  { tool: 'arrow', label: 'Arrow', key: 'a' },
  { tool: 'rect', label: 'Rectangle', key: 'r' },
  { tool: 'text', label: 'Text', key: 't' },
];

export const colors: readonly { readonly color: string; readonly label: string }[] = [
  { color: usualColor, label: 'Red' },
  { color: '#f5a524', label: 'Orange' },
  { color: '#1f9d55', label: 'Green' },
  { color: '#2f6fed', label: 'Blue' },
  { color: '#19191c', label: 'Black' },
  { color: '#ffffff', label: 'White' },
];

/** Widths of lines and heights of letters, as fractions of the width of what is drawn on. */
export const weights: readonly { readonly label: string; readonly line: number; readonly letters: number }[] =
  [
    { label: 'Thin', line: 0.0025, letters: 0.025 },
    { label: 'Medium', line: 0.005, letters: 0.035 },
    { label: 'Thick', line: 0.01, letters: 0.055 },
  ];

/** Creates a red pen of medium width. */
export function createPen(): Pen {
  const pen = $state<Pen>({ tool: 'pen', color: usualColor, weight: 1 });
  return pen;
}

/** Returns the width with which a pen draws. */
export function widthOf({ tool, weight }: Pen): number {
  const { line = 0.005, letters = 0.035 } = weights[weight] ?? {};
  return tool === 'text' ? letters : line;
}

import type { DrawnSize } from '@vitrine/contract/stroke-shapes';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';

/** Returns the size in which drawings are laid out, for the ratio of width to height of what is drawn on. */
export function drawnSize(ratio: number): DrawnSize {
  return { width: 1000, height: 1000 / ratio };
}

/** Says in words what a drawing has, for those who cannot see it. */
export function drawingInWords(strokes: readonly { tool?: string; text?: string }[]): string {
  if (strokes.length === 0) return 'Nothing is drawn yet.';
  const texts = strokes.flatMap(({ text }) => (text === undefined ? [] : [phrase(`“${text}”`)]));
  const count = plural(strokes.length, ['# stroke', '# strokes']);
  return texts.length === 0
    ? `A drawing of ${count}`
    : `A drawing of ${count}, with the text ${texts.join(', ')}`;
}

import type { Face } from '../typesetting/faces.ts';
import { measure } from '../typesetting/set-text.ts';

/** Breaks a text into lines of this width, between words or, where a word is too long, within it. */
export function linesOf(text: string, face: Face, size: number, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  const add = (piece: string, length: number) => {
    line += piece;
    used += length;
  };
  const end = () => {
    if (line !== '') lines.push(line);
    line = '';
    used = 0;
  };
  for (const word of text.split(/(?<=\s)|(?=[\u3000-\u9fff\uac00-\ud7af])/u)) {
    const length = measure(face, word, size);
    if (used + length > width) end();
    if (length <= width) {
      add(word, length);
      continue;
    }
    for (const character of word) {
      const advance = measure(face, character, size);
      if (used + advance > width) end();
      add(character, advance);
    }
  }
  return [...lines, line];
}

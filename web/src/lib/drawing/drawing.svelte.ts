import { drawingBounds } from '@vitrine/contract/limits';
import type { Stroke } from '@vitrine/contract/strokes';

/** A drawing that is being made, with its history. */
export interface Drawing {
  readonly strokes: readonly Stroke[];
  readonly mayUndo: boolean;
  readonly mayRedo: boolean;
  /** How many points can still be added; 0 if the drawing is full (BOARD-6). */
  readonly room: number;
  add(stroke: Stroke): void;
  clear(): void;
  undo(): void;
  redo(): void;
  /** Shows other strokes and forgets the history. */
  replace(strokes: readonly Stroke[]): void;
}

/** Creates a drawing that starts with these strokes. */
export function createDrawing(start: readonly Stroke[] = []): Drawing {
  let strokes = $state.raw<readonly Stroke[]>(start);
  let past = $state.raw<readonly (readonly Stroke[])[]>([]);
  let future = $state.raw<readonly (readonly Stroke[])[]>([]);
  const points = $derived(strokes.reduce((sum, stroke) => sum + stroke.points.length, 0));

  function change(to: readonly Stroke[]) {
    past = [...past, strokes];
    future = [];
    strokes = to;
  }

  return {
    get strokes() {
      return strokes;
    },
    get mayUndo() {
      return past.length > 0;
    },
    get mayRedo() {
      return future.length > 0;
    },
    get room() {
      return strokes.length >= drawingBounds.strokes ? 0 : Math.max(0, drawingBounds.points - points);
    },
    add: (stroke) => change([...strokes, stroke]),
    clear() {
      if (strokes.length > 0) change([]);
    },
    undo() {
      const before = past.at(-1);
      if (before === undefined) return;
      past = past.slice(0, -1);
      future = [strokes, ...future];
      strokes = before;
    },
    redo() {
      const [next, ...rest] = future;
      if (next === undefined) return;
      past = [...past, strokes];
      future = rest;
      strokes = next;
    },
    replace(others) {
      strokes = others;
      past = [];
      future = [];
    },
  };
}

import { createDrawing, type Drawing } from './drawing.svelte.ts';
import { createPen, type Pen } from './pen.svelte.ts';

/** A drawing that belongs to something else, such as a new comment, and is made only if it is wanted. */
export interface Sketch {
  readonly drawing: Drawing;
  readonly pen: Pen;
  /** Whether the pointer draws. */
  isOn: boolean;
  /** Removes what was drawn, and keeps the pen for the next drawing. */
  reset(): void;
}

/** Creates an empty sketch, which is not on. */
export function createSketch(): Sketch {
  const drawing = createDrawing();
  const pen = createPen();
  let isOn = $state(false);
  return {
    drawing,
    pen,
    get isOn() {
      return isOn;
    },
    set isOn(on) {
      isOn = on;
    },
    reset() {
      drawing.replace([]);
      isOn = false;
    },
  };
}

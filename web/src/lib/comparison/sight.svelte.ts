/** What is visible of several pictures of one shape: the same part of each. */
export interface Sight {
  /** 1 shows the whole picture. */
  readonly scale: number;
  /** The CSS transform of each picture. */
  readonly transform: string;
  /** Zooms by a factor around a place, in fractions of the frame. */
  zoom(factor: number, place?: { x: number; y: number }): void;
  /** Moves the picture by fractions of the frame. */
  pan(x: number, y: number): void;
  reset(): void;
}

const mostScale = 16;

/** Creates a sight of whole pictures. */
export function createSight(): Sight {
  let scale = $state(1);
  /** The shift in fractions of the frame. */
  let x = $state(0);
  let y = $state(0);

  function place(nextX: number, nextY: number) {
    // Keeps the frame filled.
    const within = (shift: number) => Math.min(0, Math.max(1 - scale, shift));
    x = within(nextX);
    y = within(nextY);
  }

  return {
    get scale() {
      return scale;
    },
    get transform() {
      return `translate(${x * 100}%, ${y * 100}%) scale(${scale})`;
    },
    zoom(factor, at = { x: 0.5, y: 0.5 }) {
      const next = Math.min(mostScale, Math.max(1, scale * factor));
      const by = next / scale;
      scale = next;
      place(at.x - (at.x - x) * by, at.y - (at.y - y) * by);
    },
    pan: (byX, byY) => place(x + byX, y + byY),
    reset() {
      scale = 1;
      place(0, 0);
    },
  };
}

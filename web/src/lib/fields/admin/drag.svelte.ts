type Zone = 'before' | 'inside' | 'after';

/** The drop target: the row with this key. */
export interface Drop {
  readonly key: string;
  readonly zone: Zone;
}

interface Rules {
  /** Returns whether a row accepts children. */
  nests(): boolean;
  allows(dragged: string, drop: Drop): boolean;
  ondrop(dragged: string, drop: Drop): void;
}

/** Lets a pointer drag rows by a handle; a row has its key in `data-row`. */
export interface Drag {
  readonly dragged: string | undefined;
  readonly over: Drop | undefined;
  take(event: PointerEvent, key: string, list: HTMLElement): void;
  follow(event: PointerEvent): void;
  release(keep: boolean): void;
}

/** The distance from the edge of the window at which the page scrolls, and its speed. */
const EDGE = 90;
const PACE = 12;

export function createDrag(rules: Rules): Drag {
  let dragged = $state<string>();
  let over = $state.raw<Drop>();
  let list: HTMLElement | undefined;
  let pointer = { x: 0, y: 0 };
  let frame = 0;

  function look() {
    if (dragged === undefined) return;
    const row = document.elementFromPoint(pointer.x, pointer.y)?.closest<HTMLElement>('[data-row]');
    const key = row?.dataset.row;
    if (row == null || key === undefined || list?.contains(row) !== true) {
      over = undefined;
      return;
    }
    const { top, height } = row.getBoundingClientRect();
    const share = (pointer.y - top) / height;
    const edge = rules.nests() ? 0.3 : 0.5;
    const zone: Zone = share < edge ? 'before' : share >= 1 - edge ? 'after' : 'inside';
    const drop = { key, zone };
    over = key !== dragged && rules.allows(dragged, drop) ? drop : undefined;
  }

  function scrollNearEdges() {
    const by = pointer.y < EDGE ? -PACE : pointer.y > innerHeight - EDGE ? PACE : 0;
    if (by !== 0) {
      scrollBy({ top: by, behavior: 'instant' });
      look();
    }
    frame = requestAnimationFrame(scrollNearEdges);
  }

  return {
    get dragged() {
      return dragged;
    },
    get over() {
      return over;
    },
    take(event, key, from) {
      if (event.button !== 0) return;
      event.preventDefault();
      dragged = key;
      list = from;
      list.setPointerCapture(event.pointerId);
      pointer = { x: event.clientX, y: event.clientY };
      frame = requestAnimationFrame(scrollNearEdges);
    },
    follow(event) {
      if (dragged === undefined) return;
      pointer = { x: event.clientX, y: event.clientY };
      look();
    },
    release(keep) {
      cancelAnimationFrame(frame);
      const [key, drop] = [dragged, over];
      dragged = over = undefined;
      if (keep && key !== undefined && drop !== undefined) rules.ondrop(key, drop);
    },
  };
}

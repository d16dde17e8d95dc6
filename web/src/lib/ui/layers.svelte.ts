import { createContext, onDestroy, untrack } from 'svelte';
import { pushState } from '$app/navigation';
import { navigating, page } from '$app/state';

/** Something that covers the page and has its own entry in the browser's history. */
interface Layer {
  isOpen: boolean;
  readonly close: () => void;
}

/** The open layers, in the order of their entries. */
interface Layers {
  add(layer: Layer): void;
  /** Removes the entries of layers that were closed in another way than by going back. */
  tidy(): void;
}

const [getLayers, setLayers] = createContext<Layers>();

export { setLayers };

/** The delay before entries are removed, so that a navigation that follows on closing starts first. */
const settleMs = 100;

/** Creates the layers of the window; called by the root layout. */
export function createLayers(): Layers {
  const stack: Layer[] = [];
  let address = '';
  let adding = 0;
  let returned: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function go(by: number) {
    returned = new Promise((resolve) => {
      addEventListener('popstate', () => setTimeout(resolve), { once: true });
    });
    history.go(by);
  }

  async function add(layer: Layer) {
    await returned;
    if (!layer.isOpen) return;
    adding += 1;
    stack.push(layer);
    address = page.url.href;
    await pushState('', { layer: stack.length });
    adding -= 1;
    if (!layer.isOpen) tidy();
  }

  function tidy() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (adding > 0 || navigating.to !== null) {
        tidy();
        return;
      }
      const before = stack.length;
      while (stack.at(-1)?.isOpen === false) stack.pop();
      if (stack.length < before) go(stack.length - before);
    }, settleMs);
  }

  /** Closes the layers above the history entry that the browser is at. */
  function follow(depth: number, href: string) {
    if (adding > 0) return;
    // Another page was opened above the layers. Their entries are skipped on the way back.
    if (href !== address) stack.length = 0;
    if (depth > stack.length) go(stack.length - depth);
    else if (depth < stack.length) {
      const left = stack.splice(depth).filter(({ isOpen }) => isOpen);
      for (const { close } of left.reverse()) close();
      // These entries were about to be removed anyway, so going back leads to the previous page.
      if (left.length === 0) history.back();
    }
  }

  $effect(() => {
    const [depth, { href }] = [page.state.layer ?? 0, page.url];
    untrack(() => follow(depth, href));
  });
  onDestroy(() => clearTimeout(timer));

  return { add: (layer) => void add(layer), tidy };
}

/**
 * Lets going back on touch screens close something that covers the page, while it is open (ABLE-5). Closing it in
 * another way leaves no history entry behind.
 */
export function closeOnBack(isOpen: () => boolean, close: () => void): void {
  if (!matchMedia('(hover: none)').matches) return;
  const layers = getLayers();
  let layer: Layer | undefined;

  function end() {
    if (layer === undefined) return;
    layer.isOpen = false;
    layer = undefined;
    layers.tidy();
  }

  $effect(() => {
    const now = isOpen();
    untrack(() => {
      if (!now) end();
      else if (layer === undefined) {
        layer = { isOpen: true, close };
        layers.add(layer);
      }
    });
  });
  onDestroy(end);
}

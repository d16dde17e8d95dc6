import type { Attachment } from 'svelte/attachments';

/**
 * Attaches to an element and calls `onsize` with its size, including padding and border, in CSS pixels: first when the browser has laid out the
 * page, and after each change. `bind:offsetHeight` and the like ask for the size at once, which costs a layout of the page.
 */
export function onResize(onsize: (width: number, height: number) => void): Attachment<HTMLElement> {
  return (element) => {
    const observer = new ResizeObserver(() => onsize(element.offsetWidth, element.offsetHeight));
    observer.observe(element);
    return () => observer.disconnect();
  };
}

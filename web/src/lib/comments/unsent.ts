const keyOf = (name: string) => `vitrine:unsent:${name}`;

/** Returns the comment that was written and not sent; empty if there is none. */
export function readUnsent(name: string): string {
  try {
    return localStorage.getItem(keyOf(name)) ?? '';
  } catch {
    return '';
  }
}

/** Keeps a comment that is not sent yet, so that it outlives the page and a lost connection (APP-8). */
export function keepUnsent(name: string, text: string): void {
  try {
    if (text.trim() === '') localStorage.removeItem(keyOf(name));
    else localStorage.setItem(keyOf(name), text);
  } catch {
    // Storage is full or switched off.
  }
}

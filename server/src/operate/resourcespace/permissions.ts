/** What a group of ResourceSpace may do: the letter codes of its permissions. */
export interface Permissions {
  has(code: string): boolean;
  /** Whether the group reads the field: all with `f*`, one with `f8`, without those of `f-8`. */
  readsField(field: number): boolean;
  /** Whether the group sees a featured collection at the top of the tree. */
  seesFeatured(collection: number): boolean;
}

export function readPermissions(text: string | null): Permissions {
  const codes = new Set((text ?? '').split(',').map((code) => code.trim()));
  return {
    has: (code) => codes.has(code),
    readsField: (field) => (codes.has('f*') || codes.has(`f${field}`)) && !codes.has(`f-${field}`),
    seesFeatured: (collection) =>
      (codes.has('j*') || codes.has(`j${collection}`)) && !codes.has(`-j${collection}`),
  };
}

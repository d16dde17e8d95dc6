/** A value that is not JSON and therefore has no canonical form. */
export class NotCanonical extends Error {}

function text(value: string): string {
  if (!value.isWellFormed()) throw new NotCanonical('a string contains half of a surrogate pair');
  // ECMAScript escapes strings and prints numbers exactly as RFC 8785 does, which refers to it.
  return JSON.stringify(value);
}

/**
 * Returns the canonical JSON text of a value (RFC 8785). Members of objects that are undefined are omitted, as JSON.stringify
 * omits them. Throws NotCanonical for anything that JSON cannot express: numbers that are not finite, unpaired surrogates,
 * and other types.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new NotCanonical('a number is not finite');
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new NotCanonical(`a value is a ${typeof value}`);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    // Sorts by UTF-16 code units, as the RFC asks.
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${text(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

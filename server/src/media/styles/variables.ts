/** Longest value that is used, in characters, because values that contain each other multiply. */
const LONGEST_VALUE = 10_000;
/** Depth to which properties and fallbacks that refer to others are followed. */
const MOST_DEPTH = 50;

/** A property that `@property` registers. */
export interface Registered {
  inherits: boolean;
  initial: string | undefined;
}

/** The custom properties of an element. */
export interface Scope {
  /** Returns the value of a property; undefined if it has none. */
  valueOf(name: string): string | undefined;
}

/** Returns the position after the bracket that closes the one before `start`, or -1. */
function endOfBracket(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return -1;
}

const reference = /(?<![\w-])var\(\s*(--[^\s,()]+)\s*/gi;

/** Returns whether a value refers to custom properties. */
export function hasVariables(text: string): boolean {
  return /(?<![\w-])var\(/i.test(text);
}

/** Replaces each `var(--name, fallback)`. Returns undefined if one has no value, which makes the whole invalid. */
export function substitute(text: string, scope: Scope, depth = 0): string | undefined {
  if (!hasVariables(text)) return text;
  if (depth > MOST_DEPTH || text.length > LONGEST_VALUE) return undefined;
  let made = '';
  let from = 0;
  for (const found of text.matchAll(reference)) {
    if (found.index < from) continue;
    const inside = found.index + found[0].length;
    const end = endOfBracket(text, inside);
    if (end < 0) return undefined;
    const fallback = text[inside] === ',' ? text.slice(inside + 1, end - 1).trim() : undefined;
    const value =
      scope.valueOf(found[1] ?? '') ??
      (fallback === undefined ? undefined : substitute(fallback, scope, depth + 1));
    if (value === undefined) return undefined;
    made += text.slice(from, found.index) + value;
    if (made.length > LONGEST_VALUE) return undefined;
    from = end;
  }
  const whole = made + text.slice(from);
  return hasVariables(whole) ? undefined : whole;
}

/**
 * Returns the scope of an element that sets these properties, below `parent`. Values are computed when they are needed,
 * and where they are set, so that descendants inherit the result. Properties that refer to each other in a circle have
 * no value.
 */
export function scopeOf(
  own: ReadonlyMap<string, string>,
  parent: Scope | null,
  registered: ReadonlyMap<string, Registered>,
): Scope {
  const computed = new Map<string, string | undefined>();
  const inProgress: string[] = [];
  const circular = new Set<string>();
  const initialOf = (name: string) => registered.get(name)?.initial;
  const inheritedOf = (name: string) => (parent === null ? initialOf(name) : parent.valueOf(name));

  function compute(name: string): string | undefined {
    const set = own.get(name)?.trim();
    const keyword = set?.toLowerCase();
    const isInherited = registered.get(name)?.inherits !== false;
    if (keyword === 'inherit') return inheritedOf(name);
    if (set === undefined || keyword === 'unset' || keyword === 'revert' || keyword === 'revert-layer')
      return isInherited ? inheritedOf(name) : initialOf(name);
    if (keyword === 'initial') return initialOf(name);
    if (inProgress.length > MOST_DEPTH) return undefined;
    inProgress.push(name);
    const value = substitute(set, scope);
    inProgress.pop();
    if (circular.has(name)) return undefined;
    // An invalid value counts as unset.
    return value ?? (isInherited ? inheritedOf(name) : initialOf(name));
  }

  const scope: Scope = {
    valueOf(name) {
      const start = inProgress.indexOf(name);
      if (start >= 0) {
        for (const cyclic of inProgress.slice(start)) circular.add(cyclic);
        return undefined;
      }
      if (!computed.has(name)) computed.set(name, compute(name));
      return computed.get(name);
    },
  };
  return own.size === 0 && parent !== null && registered.size === 0 ? parent : scope;
}

import { encodingOf, withoutDeclaration } from './text-encoding.ts';

/** A longer value of a custom property is not used, because values that contain each other multiply. */
const LONGEST_VALUE = 10_000;
/** Depth to which values that refer to other properties are followed. */
const MOST_DEPTH = 10;
/** Maximum number of values that are read to replace one property, because values can multiply. */
const MOST_NESTED = 200;

type Values = ReadonlyMap<string, string>;

/** Returns the position after the bracket that closes the one before `start`, or -1. */
function endOfBracket(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < Math.min(text.length, start + LONGEST_VALUE); at += 1) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return -1;
}

/** Replaces each `var(--name, fallback)` by its value; leaves one without a value. */
function substitute(text: string, values: readonly Values[], depth = 0, shared = { left: 0 }): string {
  if (depth > MOST_DEPTH || !text.includes('var(')) return text;
  let made = '';
  let from = 0;
  for (const found of text.matchAll(/\bvar\(\s*(--[^\s,()]+)\s*/g)) {
    if (found.index < from) continue;
    const budget = depth === 0 ? { left: MOST_NESTED } : shared;
    budget.left -= 1;
    if (budget.left < 0) break;
    const inside = found.index + found[0].length;
    const end = endOfBracket(text, inside);
    if (end < 0) continue;
    const fallback = text[inside] === ',' ? text.slice(inside + 1, end - 1).trim() : undefined;
    const name = found[1] ?? '';
    const value = values.map((known) => known.get(name)).find((known) => known !== undefined) ?? fallback;
    const known = value === undefined ? undefined : substitute(value, values, depth + 1, budget);
    made += text.slice(from, found.index);
    made += known === undefined || known.length > LONGEST_VALUE ? text.slice(found.index, end) : known;
    from = end;
    if (depth > 0 && made.length > LONGEST_VALUE) return made;
  }
  return made + text.slice(from);
}

/** Returns the custom properties that a block of declarations sets. */
function propertiesIn(declarations: string): Map<string, string> {
  const found = declarations.matchAll(/(?:^|[;\s{])(--[^\s:;{}]+)\s*:([^;{}]*)/g);
  return new Map(
    Array.from(found, ([, name = '', value = '']) => [name, value.replace(/!\s*important\s*$/i, '').trim()]),
  );
}

/** Conditions that hold for a picture on a screen, as far as they are known. */
function holds(query: string): boolean {
  return !/prefers-color-scheme\s*:\s*dark|\bprint\b|\bspeech\b|prefers-contrast/i.test(query);
}

interface Rule {
  selector: string;
  body: string;
  applies: boolean;
}

/** Divides a style sheet into its innermost blocks. */
function rulesOf(css: string): Rule[] {
  const rules: Rule[] = [];
  const open: string[] = [];
  let start = 0;
  for (const { 0: mark, index } of css.matchAll(/[{};]/g)) {
    const text = css.slice(start, index).trim();
    if (mark === '{') {
      open.push(text);
      start = index + 1;
    } else if (mark === '}') {
      const selector = open.pop() ?? '';
      if (!selector.startsWith('@')) rules.push({ selector, body: text, applies: open.every(holds) });
      start = index + 1;
    } else if (open.length === 0) start = index + 1;
  }
  return rules;
}

const styleElement = /(<style\b[^>]*>)([\s\S]*?)(<\/style\s*>)/g;
const withoutComments = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, '');

/**
 * Collects the custom properties of a drawing. Those of the root apply everywhere; those of other selectors where the
 * root has none, because matching selectors is the renderer's part.
 */
function propertiesOf(svg: string): Values {
  const rules = Array.from(svg.matchAll(styleElement), ([, , css = '']) => rulesOf(css))
    .flat()
    .filter((rule) => rule.applies);
  const isOfRoot = ({ selector }: Rule) => /(?:^|,)\s*(?::root|svg|\*|html)\s*(?:,|$)/.test(selector);
  const ordered = [...rules.filter((rule) => !isOfRoot(rule)), ...rules.filter(isOfRoot)];
  const values = new Map(ordered.flatMap(({ body }) => [...propertiesIn(body)]));
  for (const [, style = ''] of svg.matchAll(/<[\w:-]+\s[^<>]*?\bstyle\s*=\s*"([^"]*--[^"]*)"/g)) {
    for (const [name, value] of propertiesIn(style)) if (!values.has(name)) values.set(name, value);
  }
  return values;
}

/** Replaces custom properties of CSS, which librsvg ignores, by their values. */
function withoutVariables(svg: string): string {
  if (!/\bvar\(\s*--/.test(svg)) return svg;
  const plain = svg.replace(styleElement, (_, open: string, css: string, close: string) =>
    [open, withoutComments(css), close].join(''),
  );
  const values = propertiesOf(plain);
  const inRules = plain.replace(styleElement, (_, open: string, css: string, close: string) => {
    const body = css.replace(
      /\{([^{}]*)\}/g,
      (_, inner: string) => `{${substitute(inner, [propertiesIn(inner), values])}}`,
    );
    return [open, body, close].join('');
  });
  return inRules.replace(/<[a-zA-Z][^<>]*>/g, (tag) => {
    if (!tag.includes('var(')) return tag;
    return tag.replace(/=\s*(?:"([^"]*)"|'([^']*)')/g, (whole, double?: string, single?: string) => {
      const value = double ?? single ?? '';
      if (!value.includes('var(')) return whole;
      const made = substitute(value, [propertiesIn(value), values]);
      return double === undefined ? `='${made.replaceAll("'", '"')}'` : `="${made.replaceAll('"', "'")}"`;
    });
  });
}

/**
 * Returns a drawing as librsvg reads it: in UTF-8, whatever its encoding, and with the values of its custom
 * properties.
 */
export function drawableSvg(bytes: Buffer): Buffer {
  const encoding = encodingOf(bytes);
  const text = new TextDecoder(encoding).decode(bytes);
  const drawn = withoutVariables(withoutDeclaration(text));
  return encoding === 'utf-8' && drawn === text ? bytes : Buffer.from(drawn);
}

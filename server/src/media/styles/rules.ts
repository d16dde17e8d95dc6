import { compile } from 'css-select';
import { type AttributeSelector, parse as parseSelector, type Selector } from 'css-what';
import { type AnyNode, type Element, isTag } from 'domhandler';
import * as dom from 'domutils';
import type { AtRule, ChildNode } from 'postcss';
import parseCss from 'postcss-safe-parser';
import { sentence } from '../../platform/language/sentence.ts';
import { NotDrawable } from '../still.ts';
import type { Registered } from './variables.ts';

/** Longest list of selectors that is used, in characters; lists in each other multiply. */
const LONGEST_SELECTOR = 5000;
/** Maximum depth of rules in each other. */
const MOST_NESTED = 50;
/** Maximum number of steps from element to element to match selectors. */
const MOST_STEPS = 20_000_000;

export interface Declaration {
  name: string;
  value: string;
  important: boolean;
}

/** A rule with one of its selectors. */
export interface StyleRule {
  /** Numbers of ids, of classes, and of names of elements: the first that differs decides. */
  specificity: readonly [number, number, number];
  declarations: readonly Declaration[];
  matches(element: Element): boolean;
}

export interface StyleSheet {
  rules: readonly StyleRule[];
  registered: ReadonlyMap<string, Registered>;
}

/** Compares by specificity; rules of the same specificity keep their order. */
export function bySpecificity(a: StyleRule, b: StyleRule): number {
  const index = a.specificity.findIndex((count, at) => count !== b.specificity[at]);
  return index < 0 ? 0 : (a.specificity[index] ?? 0) - (b.specificity[index] ?? 0);
}

const isId = (token: AttributeSelector) => token.name === 'id' && token.ignoreCase === 'quirks';

function specificityOf(selector: readonly Selector[]): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  const add = ([ids, classes, names]: readonly [number, number, number]) => {
    sum[0] += ids;
    sum[1] += classes;
    sum[2] += names;
  };
  for (const token of selector) {
    if (token.type === 'attribute') add(isId(token) ? [1, 0, 0] : [0, 1, 0]);
    else if (token.type === 'tag' || token.type === 'pseudo-element') add([0, 0, 1]);
    else if (token.type === 'pseudo' && token.name !== 'where') {
      const isOfArguments = ['is', 'not', 'has', 'matches'].includes(token.name);
      if (!isOfArguments || !Array.isArray(token.data)) add([0, 1, 0]);
      else add(token.data.map(specificityOf).reduce(greater, [0, 0, 0]));
    }
  }
  return sum;
}

function greater(a: [number, number, number], b: [number, number, number]): [number, number, number] {
  const index = a.findIndex((count, at) => count !== b[at]);
  return index >= 0 && (a[index] ?? 0) < (b[index] ?? 0) ? b : a;
}

/** Returns a rule for each selector of a list. Leaves out those that match nothing here, such as `:hover`. */
function rulesFor(list: string, declarations: readonly Declaration[], adapter: Elements): StyleRule[] {
  if (list.length > LONGEST_SELECTOR) return [];
  let selectors: Selector[][];
  try {
    selectors = parseSelector(list);
  } catch {
    return [];
  }
  return selectors.flatMap((selector) => {
    try {
      const matches = compile<AnyNode, Element>([selector], { xmlMode: true, adapter });
      return [{ specificity: specificityOf(selector), declarations, matches }];
    } catch {
      return [];
    }
  });
}

type Elements = ReturnType<typeof boundedElements>;

/** Access to elements for selectors. Throws NotDrawable after too many steps, because combinators can multiply. */
function boundedElements() {
  let left = MOST_STEPS;
  const count = (steps: number) => {
    left -= steps;
    if (left < 0) throw new NotDrawable(sentence('its styles are too complex'));
  };
  return {
    ...dom,
    isTag,
    // Without its prefix, because selectors without a namespace match elements of any.
    getName: ({ name }: Element) => name.slice(name.indexOf(':') + 1),
    getParent(element: AnyNode) {
      count(1);
      return dom.getParent(element);
    },
    getSiblings(element: AnyNode) {
      const siblings = dom.getSiblings(element);
      count(siblings.length);
      return siblings;
    },
    getChildren(element: AnyNode) {
      const children = dom.getChildren(element);
      count(children.length);
      return children;
    },
  };
}

/** Conditions that hold for a picture on a screen, as far as they are known. */
function holds({ name, params }: AtRule): boolean {
  if (!['media', 'supports', 'layer', 'container', 'scope'].includes(name)) return false;
  return !/prefers-color-scheme\s*:\s*dark|\bprint\b|\bspeech\b|prefers-contrast/i.test(params);
}

function declarationsIn(nodes: readonly ChildNode[] = []): Declaration[] {
  return nodes.flatMap((node) =>
    node.type === 'decl' ? [{ name: node.prop, value: node.value, important: node.important === true }] : [],
  );
}

/** Parses CSS as browsers do, which skip what they do not understand. */
function nodesOf(css: string): ChildNode[] {
  const root = parseCss(css);
  return root.type === 'root' ? root.nodes : [];
}

/** Reads the declarations of an attribute `style`. */
export function readDeclarations(style: string): Declaration[] {
  return declarationsIn(nodesOf(style));
}

/** Returns the selector of a nested rule: `&` and a missing one stand for the rule around it. */
function nested(selector: string, around: string | null): string {
  if (around === null) return selector;
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => (part.includes('&') ? part.replaceAll('&', `:is(${around})`) : `:is(${around}) ${part}`))
    .join(',');
}

/** Reads the rules that apply to a picture. */
export function readStyleSheet(css: string): StyleSheet {
  const rules: StyleRule[] = [];
  const registered = new Map<string, Registered>();
  const adapter = boundedElements();
  function read(nodes: readonly ChildNode[], around: string | null, depth = 0): void {
    if (depth > MOST_NESTED || (around ?? '').length > LONGEST_SELECTOR) return;
    for (const node of nodes) {
      if (node.type === 'rule') {
        const selector = nested(node.selector, around);
        rules.push(...rulesFor(selector, declarationsIn(node.nodes), adapter));
        read(node.nodes, selector, depth + 1);
      } else if (node.type === 'atrule' && node.name === 'property') {
        const found = new Map(declarationsIn(node.nodes).map(({ name, value }) => [name, value]));
        const inherits = found.get('inherits') !== 'false';
        registered.set(node.params.trim(), { inherits, initial: found.get('initial-value') });
      } else if (node.type === 'atrule' && holds(node)) {
        if (around !== null) rules.push(...rulesFor(around, declarationsIn(node.nodes), adapter));
        read(node.nodes ?? [], around, depth + 1);
      }
    }
  }
  read(nodesOf(css), null);
  return { rules, registered };
}

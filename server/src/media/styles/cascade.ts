import { type ChildNode, cloneNode, type Element, isTag } from 'domhandler';
import * as dom from 'domutils';
import { decodeXML } from 'entities';
import { bySpecificity, type Declaration, readDeclarations, type StyleSheet } from './rules.ts';
import { hasVariables, type Scope, scopeOf, substitute } from './variables.ts';

/** Maximum number of elements that instances of others (`use`) are drawn with, because they can multiply. */
const MOST_INSTANCED = 20_000;
/** Maximum depth of instances in instances. */
const MOST_DEPTH = 10;
/** Maximum depth of elements. The renderer refuses deeper ones. */
const MOST_NESTED = 512;

/** Initial values of the properties that elements do not inherit. */
const initialValues: ReadonlyMap<string, string> = new Map([
  ['stop-color', 'black'],
  ['stop-opacity', '1'],
  ['flood-color', 'black'],
  ['flood-opacity', '1'],
  ['lighting-color', 'white'],
  ['opacity', '1'],
  ['clip-path', 'none'],
  ['mask', 'none'],
  ['filter', 'none'],
  ['display', 'inline'],
  ['overflow', 'visible'],
  ['transform', 'none'],
  ['text-decoration', 'none'],
  ['mix-blend-mode', 'normal'],
]);
const geometry = /^(?:c?[xy]|d|r|r[xy]|width|height)$/;

/** Returns what a declaration becomes whose variables have no value: the property is unset. */
function unset(name: string): string {
  return geometry.test(name) ? '' : `${name}:${initialValues.get(name) ?? 'inherit'}`;
}

/** Returns the declarations of an element in ascending order: the last of a property holds. */
function declarationsOf(element: Element, { rules }: StyleSheet): Declaration[] {
  const matching = rules.filter((rule) => rule.matches(element)).toSorted(bySpecificity);
  const inline = readDeclarations(decodeXML(element.attribs.style ?? ''));
  const all = [...matching.flatMap(({ declarations }) => declarations), ...inline];
  return [...all.filter(({ important }) => !important), ...all.filter(({ important }) => important)];
}

const isCustom = ({ name }: Declaration) => name.startsWith('--');

function inlineStyle(declarations: readonly Declaration[], scope: Scope): string {
  const made = declarations
    .filter((declaration) => !isCustom(declaration))
    .map(({ name, value }) => {
      const known = substitute(value, scope);
      return known === undefined ? unset(name) : `${name}:${known}`;
    });
  return made.filter((text) => text !== '').join(';');
}

/** An attribute in double quotes. */
const quoted = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Gives an element its computed style as an attribute, and attributes without variables. */
function dress(element: Element, declarations: readonly Declaration[], scope: Scope): void {
  for (const [name, value] of Object.entries(element.attribs)) {
    if (name === 'style' || !hasVariables(value)) continue;
    const known = substitute(decodeXML(value), scope);
    if (known === undefined) delete element.attribs[name];
    else element.attribs[name] = quoted(known);
  }
  const style = inlineStyle(declarations, scope);
  delete element.attribs.style;
  if (style !== '') element.attribs.style = quoted(style);
}

const localName = ({ name }: Element) => name.slice(name.indexOf(':') + 1);
const elementsIn = ({ children }: { children: readonly ChildNode[] }) => children.filter(isTag);

/**
 * Returns a copy of a drawing whose elements have their style as an attribute, with the values of custom properties as
 * they inherit them; instances (`use`) inherit from the place where they are drawn. Null if the elements are nested too
 * deeply.
 */
export function withComputedStyles(root: Element, sheet: StyleSheet): Element | null {
  const declared = new Map<Element, readonly Declaration[]>();
  const byId = new Map<string, Element>();
  const parts = [{ element: root, depth: 0 }];
  const inOrder: Element[] = [];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const { element, depth } = part;
    if (depth > MOST_NESTED) return null;
    inOrder.push(element);
    declared.set(element, declarationsOf(element, sheet));
    const { id } = element.attribs;
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    for (const child of elementsIn(element).toReversed()) parts.push({ element: child, depth: depth + 1 });
  }
  // The elements whose style, or that of an element in them, depends on variables.
  const variable = new Set<Element>();
  for (const element of inOrder.toReversed()) {
    const isOwn =
      (declared.get(element) ?? []).some((declaration) => hasVariables(declaration.value)) ||
      Object.values(element.attribs).some(hasVariables);
    if (isOwn || localName(element) === 'use' || elementsIn(element).some((child) => variable.has(child)))
      variable.add(element);
  }

  const instances: Element[] = [];
  let left = MOST_INSTANCED;
  const scopeBelow = (element: Element, parent: Scope | null) => {
    const own = (declared.get(element) ?? [])
      .filter(isCustom)
      .map(({ name, value }) => [name, value] as const);
    return scopeOf(new Map(own), parent, sheet.registered);
  };

  function draw(source: Element, made: Element, parent: Scope | null, depth: number): void {
    const scope = scopeBelow(source, parent);
    dress(made, declared.get(source) ?? [], scope);
    if (localName(source) === 'use') instantiate(source, made, scope, depth);
    const copies = elementsIn(made);
    for (const [index, child] of elementsIn(source).entries()) {
      const copy = copies[index];
      if (copy !== undefined) draw(child, copy, scope, depth);
    }
  }

  function instantiate(use: Element, made: Element, scope: Scope, depth: number): void {
    const href = use.attribs.href ?? use.attribs['xlink:href'] ?? '';
    const target = href.startsWith('#') ? byId.get(href.slice(1)) : undefined;
    if (target === undefined || !variable.has(target) || depth >= MOST_DEPTH) return;
    left -= dom.getElementsByTagName('*', target).length + 1;
    if (left < 0) return;
    const instance = cloneNode(target, true);
    for (const copy of dom.getElementsByTagName('*', instance)) delete copy.attribs.id;
    draw(target, instance, scope, depth + 1);
    instances.push(instance);
    instance.attribs.id = `instance-${instances.length}-of-${byId.size}-${href.slice(1)}`;
    delete made.attribs['xlink:href'];
    made.attribs.href = `#${instance.attribs.id}`;
  }

  const made = cloneNode(root, true);
  draw(root, made, null, 0);
  if (instances.length > 0) {
    const prefix = root.name.slice(0, root.name.indexOf(':') + 1);
    const definitions = cloneNode(root);
    definitions.name = `${prefix}defs`;
    definitions.attribs = {};
    for (const instance of instances) dom.appendChild(definitions, instance);
    dom.appendChild(made, definitions);
  }
  for (const style of dom.getElementsByTagName((name) => /(?:^|:)style$/.test(name), made))
    dom.removeElement(style);
  return made;
}

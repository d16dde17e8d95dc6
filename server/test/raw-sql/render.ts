import ts from 'typescript';
import type { Sources } from './sources.ts';

/** Marks a parameter in the text of a fragment. */
const PARAMETER = '\u0000';

/** What an expression of the sources evaluates to, as far as the sources alone tell. */
type Value =
  | { kind: 'sql'; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'known'; value: number | boolean | null | undefined }
  | { kind: 'list'; items: readonly Value[] }
  | { kind: 'object'; keys: readonly string[]; get(key: string): Value | undefined }
  | { kind: 'function'; node: FunctionNode; scope: Scope }
  /** A value that only the running program knows, with the expression that it comes from. */
  | { kind: 'runtime'; node?: ts.Node; likeness?: string };

type FunctionNode = ts.ArrowFunction | ts.FunctionExpression | ts.FunctionDeclaration | ts.MethodDeclaration;

/** A call of a function that is being evaluated, with its arguments. */
interface Scope {
  node: FunctionNode | null;
  /** Evaluates an argument; null while the caller is unknown. */
  given: ((at: number) => Value) | null;
  parent: Scope | null;
}

/** Which alternative a rendering takes of each branch of the program; the first by default, and the last for -1. */
export type Choices = Pick<ReadonlyMap<string, number>, 'get'>;

const runtime: Value = { kind: 'runtime' };
const missing: Value = { kind: 'known', value: undefined };

/** A statement could not be rendered from the sources. */
export class NotRenderable extends Error {}

export interface Rendering {
  text: string;
  /** Every branch that was met, with its number of alternatives. */
  branches: ReadonlyMap<string, number>;
}

const isFunctionNode = (node: ts.Node): node is FunctionNode =>
  ts.isArrowFunction(node) ||
  ts.isFunctionExpression(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isMethodDeclaration(node);

function functionAround(node: ts.Node): FunctionNode | null {
  for (let at = node.parent; at !== undefined; at = at.parent) if (isFunctionNode(at)) return at;
  return null;
}

function nameOf(node: FunctionNode): { name: string; declaration: ts.Declaration } | null {
  if (ts.isFunctionDeclaration(node)) return node.name ? { name: node.name.text, declaration: node } : null;
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name))
    return { name: parent.name.text, declaration: parent };
  return null;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const reference = (path: string) =>
  path
    .split('.')
    .map((part) => (part === '*' ? part : quoted(part)))
    .join('.');

/** Methods that run a statement, whose result only the program knows. */
const runs = new Set(['execute', 'executeTakeFirst', 'executeTakeFirstOrThrow', 'query', 'transaction']);

/** The number of calls deep that a rendering goes. */
const DEEPEST = 60;

/**
 * Renders SQL by evaluating the expressions that compose it. What depends on requests or rows becomes a parameter, as in
 * the program; where the program branches, `choices` tells which branch to take, by default the first.
 */
class Renderer {
  readonly branches = new Map<string, number>();
  private depth = 0;
  /** The scopes of functions that are rendered on their own. */
  private readonly detached = new Map<FunctionNode | null, Scope>();
  private readonly values = new Map<Scope, Map<ts.Node, Value>>();
  private readonly running = new Set<ts.Node>();
  private readonly sources: Sources;
  private readonly choices: Choices;

  constructor(sources: Sources, choices: Choices) {
    this.sources = sources;
    this.choices = choices;
  }

  private choose(node: ts.Node, what: string, alternatives: number): number {
    const key = `${what} ${node.getSourceFile().fileName}:${node.pos}`;
    this.branches.set(key, alternatives);
    const chosen = this.choices.get(key) ?? 0;
    return chosen === -1 ? alternatives - 1 : Math.min(chosen, alternatives - 1);
  }

  private choosesOther(node: ts.Node): boolean {
    // Conditions that read the same variable have the same outcome.
    const variable = ts.isIdentifier(node) ? this.sources.declarationOf(node) : undefined;
    return this.choose(variable ?? node, 'other', 2) === 1;
  }

  /** Returns whether the alternative for a false condition is taken. */
  private isOther(condition: Value, node: ts.Expression): boolean {
    if (condition.kind === 'known') return !condition.value;
    return condition.kind === 'runtime' && this.choosesOther(node);
  }

  evaluate(node: ts.Expression, scope: Scope | null): Value {
    this.depth += 1;
    if (this.depth > 400) throw new NotRenderable('too deep');
    try {
      return this.valueOf(node, scope);
    } finally {
      this.depth -= 1;
    }
  }

  private valueOf(node: ts.Expression, scope: Scope | null): Value {
    if (
      ts.isParenthesizedExpression(node) ||
      ts.isAsExpression(node) ||
      ts.isSatisfiesExpression(node) ||
      ts.isNonNullExpression(node) ||
      ts.isAwaitExpression(node)
    )
      return this.evaluate(node.expression, scope);
    if (ts.isTaggedTemplateExpression(node))
      return ts.isIdentifier(node.tag) && node.tag.text === 'sql' ? this.fragment(node, scope) : runtime;
    if (ts.isStringLiteralLike(node)) return { kind: 'text', text: node.text };
    if (ts.isNumericLiteral(node)) return { kind: 'known', value: Number(node.text.replaceAll('_', '')) };
    if (node.kind === ts.SyntaxKind.NullKeyword) return { kind: 'known', value: null };
    if (node.kind === ts.SyntaxKind.TrueKeyword) return { kind: 'known', value: true };
    if (node.kind === ts.SyntaxKind.FalseKeyword) return { kind: 'known', value: false };
    if (ts.isTemplateExpression(node)) return this.template(node, scope);
    if (ts.isConditionalExpression(node)) return this.conditional(node, scope);
    if (ts.isBinaryExpression(node)) return this.binary(node, scope);
    if (ts.isIdentifier(node)) return node.text === 'undefined' ? missing : this.identifier(node, scope);
    if (ts.isPropertyAccessExpression(node)) {
      const value = this.property(this.evaluate(node.expression, scope), node.name.text);
      return value === runtime ? { kind: 'runtime', node } : value;
    }
    if (ts.isElementAccessExpression(node)) return this.element(node, scope);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
      return { kind: 'function', node, scope: this.scopeOf(node, scope) };
    if (ts.isObjectLiteralExpression(node)) return this.object(node, scope);
    if (ts.isArrayLiteralExpression(node)) return { kind: 'list', items: this.items(node.elements, scope) };
    if (ts.isCallExpression(node)) return this.call(node, scope);
    return runtime;
  }

  private scopeOf(node: ts.Node, scope: Scope | null): Scope {
    const around = functionAround(node);
    for (let at = scope; at !== null; at = at.parent) if (at.node === around) return at;
    const known = this.detached.get(around);
    if (known !== undefined) return known;
    const parent = around === null ? null : this.scopeOf(around, scope);
    const made: Scope = { node: around, given: null, parent };
    // A function within a call that is being evaluated belongs to that call alone.
    if (parent === null || parent === this.detached.get(parent.node)) this.detached.set(around, made);
    return made;
  }

  private fragment(node: ts.TaggedTemplateExpression, scope: Scope | null): Value {
    const { template } = node;
    if (ts.isNoSubstitutionTemplateLiteral(template)) return { kind: 'sql', text: template.text };
    const parts = template.templateSpans.map(
      ({ expression, literal }) => this.interpolated(this.evaluate(expression, scope)) + literal.text,
    );
    return { kind: 'sql', text: template.head.text + parts.join('') };
  }

  private interpolated(value: Value): string {
    return value.kind === 'sql' ? value.text : PARAMETER;
  }

  private template(node: ts.TemplateExpression, scope: Scope | null): Value {
    let text = node.head.text;
    let isKnown = true;
    for (const { expression, literal } of node.templateSpans) {
      const value = this.settled(this.evaluate(expression, scope));
      if (value.kind === 'text') text += value.text;
      else if (value.kind === 'known') text += String(value.value);
      else {
        isKnown = false;
        text += '1';
      }
      text += literal.text;
    }
    return isKnown ? { kind: 'text', text } : { kind: 'runtime', likeness: text };
  }

  private conditional(node: ts.ConditionalExpression, scope: Scope | null): Value {
    const condition = this.evaluate(node.condition, scope);
    const other = this.isOther(condition, node.condition);
    return this.evaluate(other ? node.whenFalse : node.whenTrue, scope);
  }

  private binary(node: ts.BinaryExpression, scope: Scope | null): Value {
    const { kind } = node.operatorToken;
    const left = this.evaluate(node.left, scope);
    const isNothing = left.kind === 'known' && (left.value === null || left.value === undefined);
    if (kind === ts.SyntaxKind.QuestionQuestionToken || kind === ts.SyntaxKind.BarBarToken) {
      if (left.kind === 'runtime' || isNothing) return this.evaluate(node.right, scope);
      return left;
    }
    if (kind === ts.SyntaxKind.AmpersandAmpersandToken) {
      if (left.kind !== 'runtime')
        return left.kind === 'known' && !left.value ? left : this.evaluate(node.right, scope);
      return this.choosesOther(node) ? { kind: 'known', value: false } : this.evaluate(node.right, scope);
    }
    const right = this.evaluate(node.right, scope);
    if (kind === ts.SyntaxKind.PlusToken && left.kind === 'text' && right.kind === 'text')
      return { kind: 'text', text: left.text + right.text };
    const isSame = this.same(
      right.kind === 'text' ? this.settled(left) : left,
      left.kind === 'text' ? this.settled(right) : right,
    );
    if (isSame === null) return runtime;
    if (kind === ts.SyntaxKind.EqualsEqualsEqualsToken) return { kind: 'known', value: isSame };
    if (kind === ts.SyntaxKind.ExclamationEqualsEqualsToken) return { kind: 'known', value: !isSame };
    return runtime;
  }

  /** Chooses one of the texts that a value may be, if its type lists them. */
  private settled(value: Value): Value {
    if (value.kind !== 'runtime' || value.node === undefined) return value;
    const texts = this.sources.textsOf(value.node);
    if (texts === null) return value;
    const text = texts[this.choose(this.sources.memberOf(value.node), 'text', texts.length)];
    return text === undefined ? value : { kind: 'text', text };
  }

  private same(left: Value, right: Value): boolean | null {
    if (left.kind === 'runtime' || right.kind === 'runtime') return null;
    if (left.kind === 'text' && right.kind === 'text') return left.text === right.text;
    if (left.kind === 'known' && right.kind === 'known') return left.value === right.value;
    return false;
  }

  private property(value: Value, name: string): Value {
    if (value.kind === 'object') return value.get(name) ?? missing;
    if (value.kind === 'list' && name === 'length') return runtime;
    return runtime;
  }

  private element(node: ts.ElementAccessExpression, scope: Scope | null): Value {
    const value = this.evaluate(node.expression, scope);
    const key = this.settled(this.evaluate(node.argumentExpression, scope));
    if (value.kind === 'list') return value.items[key.kind === 'known' ? Number(key.value) : 0] ?? runtime;
    if (value.kind !== 'object') return runtime;
    if (key.kind === 'text') return value.get(key.text) ?? missing;
    const chosen = value.keys[this.choose(node, 'key', Math.max(1, value.keys.length))];
    return chosen === undefined ? runtime : (value.get(chosen) ?? runtime);
  }

  private items(elements: readonly ts.Expression[], scope: Scope | null): Value[] {
    return elements.flatMap((element) => {
      if (!ts.isSpreadElement(element)) return [this.evaluate(element, scope)];
      const spread = this.evaluate(element.expression, scope);
      return spread.kind === 'list' ? spread.items : [];
    });
  }

  private object(node: ts.ObjectLiteralExpression, scope: Scope | null): Value {
    const found = new Map<string, () => Value>();
    for (const property of node.properties) {
      if (ts.isSpreadAssignment(property)) {
        const spread = this.evaluate(property.expression, scope);
        if (spread.kind === 'object')
          for (const key of spread.keys) found.set(key, () => spread.get(key) ?? missing);
        continue;
      }
      if (property.name === undefined) continue;
      const key =
        ts.isIdentifier(property.name) ||
        ts.isStringLiteralLike(property.name) ||
        ts.isNumericLiteral(property.name)
          ? property.name.text
          : null;
      if (key === null) continue;
      if (ts.isPropertyAssignment(property)) found.set(key, () => this.evaluate(property.initializer, scope));
      else if (ts.isShorthandPropertyAssignment(property))
        found.set(key, () => this.identifier(property.name, scope));
      else if (ts.isMethodDeclaration(property))
        found.set(key, () => ({ kind: 'function', node: property, scope: this.scopeOf(property, scope) }));
    }
    const known = new Map<string, Value | undefined>();
    const get = (key: string) => {
      if (!known.has(key)) known.set(key, found.get(key)?.());
      return known.get(key);
    };
    return { kind: 'object', keys: [...found.keys()], get };
  }

  private identifier(name: ts.Identifier, scope: Scope | null): Value {
    const declaration = this.sources.declarationOf(name);
    if (declaration === undefined) return runtime;
    return this.declared(declaration, this.scopeOf(declaration, scope));
  }

  private declared(declaration: ts.Node, scope: Scope): Value {
    const known = this.values.get(scope) ?? new Map<ts.Node, Value>();
    this.values.set(scope, known);
    const found = known.get(declaration);
    if (found !== undefined) return found;
    // While it is evaluated, a reference to itself is a later state of a running program.
    known.set(declaration, runtime);
    const value = this.valueDeclared(declaration, scope);
    known.set(declaration, value);
    return value;
  }

  private valueDeclared(declaration: ts.Node, scope: Scope): Value {
    if (ts.isFunctionDeclaration(declaration)) return { kind: 'function', node: declaration, scope };
    if (ts.isVariableDeclaration(declaration)) return this.variable(declaration, scope);
    if (ts.isParameter(declaration)) return this.parameter(declaration, scope);
    if (ts.isBindingElement(declaration)) return this.bound(declaration, scope);
    return runtime;
  }

  private variable(declaration: ts.VariableDeclaration, scope: Scope): Value {
    const list = declaration.parent.parent;
    if (ts.isForOfStatement(list)) {
      const all = this.evaluate(list.expression, scope);
      if (all.kind !== 'list') return runtime;
      return all.items[this.choose(list, 'item', Math.max(1, all.items.length))] ?? runtime;
    }
    const { name } = declaration;
    const initial =
      declaration.initializer === undefined ? missing : this.evaluate(declaration.initializer, scope);
    if (!ts.isIdentifier(name)) return initial;
    if (initial.kind === 'list')
      return { kind: 'list', items: [...initial.items, ...this.pushed(declaration, scope)] };
    if (!(declaration.parent.flags & ts.NodeFlags.Const)) {
      const { assigned } = this.sources.changesOf(declaration);
      const chosen = this.choose(declaration, 'assigned', assigned.length + 1);
      const expression = assigned[chosen - 1];
      return expression === undefined ? initial : this.evaluate(expression, scope);
    }
    return initial;
  }

  /** What the function adds to a list after declaring it. */
  private pushed(declaration: ts.VariableDeclaration, scope: Scope): Value[] {
    return this.sources
      .changesOf(declaration)
      .pushed.flatMap((call) =>
        this.choose(call, 'push', 2) === 0 ? this.items(call.arguments, scope) : [],
      );
  }

  private parameter(declaration: ts.ParameterDeclaration, scope: Scope): Value {
    const { parent } = declaration;
    if (!isFunctionNode(parent)) return { kind: 'runtime', node: declaration };
    const at = parent.parameters.indexOf(declaration);
    const value = scope.given === null ? this.givenByCaller(parent, at, scope) : scope.given(at);
    const isMissing = value.kind === 'known' && value.value === undefined;
    if (value === runtime) return { kind: 'runtime', node: declaration };
    return isMissing && declaration.initializer !== undefined
      ? this.evaluate(declaration.initializer, scope)
      : value;
  }

  /** Evaluates an argument of a function whose statement is rendered on its own: as one of its callers passes it. */
  private givenByCaller(node: FunctionNode, at: number, scope: Scope): Value {
    const named = nameOf(node);
    const calls = named === null ? [] : this.sources.callsOf(named.declaration, named.name);
    const call = calls[calls.length === 0 ? 0 : this.choose(node, 'caller', calls.length)];
    if (call === undefined || this.running.has(call)) return runtime;
    const caller = this.scopeOf(call, scope);
    scope.given = this.argumentsOf(call, caller);
    return scope.given(at);
  }

  private argumentsOf(call: ts.CallExpression, scope: Scope | null): (at: number) => Value {
    return (at) => {
      const argument = call.arguments[at];
      if (argument === undefined) return missing;
      if (this.running.size > DEEPEST) return runtime;
      return ts.isSpreadElement(argument) ? runtime : this.evaluate(argument, scope);
    };
  }

  private bound(element: ts.BindingElement, scope: Scope): Value {
    const pattern = element.parent;
    const whole = this.declared(pattern.parent, scope);
    const value = ts.isArrayBindingPattern(pattern)
      ? whole.kind === 'list'
        ? (whole.items[pattern.elements.indexOf(element)] ?? missing)
        : runtime
      : this.propertyOfPattern(whole, element);
    const isMissing = value.kind === 'known' && value.value === undefined;
    if (value === runtime) return { kind: 'runtime', node: element };
    return isMissing && element.initializer !== undefined ? this.evaluate(element.initializer, scope) : value;
  }

  private propertyOfPattern(whole: Value, element: ts.BindingElement): Value {
    const key = element.propertyName ?? element.name;
    return element.dotDotDotToken === undefined && (ts.isIdentifier(key) || ts.isStringLiteral(key))
      ? this.property(whole, key.text)
      : whole;
  }

  private call(node: ts.CallExpression, scope: Scope | null): Value {
    const { expression: callee } = node;
    if (ts.isPropertyAccessExpression(callee)) {
      if (ts.isIdentifier(callee.expression) && callee.expression.text === 'sql')
        return this.builtIn(callee.name.text, node, scope);
      const { text: owner = '' } = ts.isIdentifier(callee.expression) ? callee.expression : {};
      if (owner === 'Map' && callee.name.text === 'groupBy') return this.groupBy(node, scope);
      if (owner === 'Object') return this.ofObject(callee.name.text, node, scope);
      if (runs.has(callee.name.text)) return runtime;
      const target = this.evaluate(callee.expression, scope);
      if (target.kind === 'sql') return this.ofFragment(target, callee.name.text, node, scope);
      if (target.kind === 'list' || target.kind === 'runtime')
        return this.ofList(target, callee.name.text, node, scope);
      if (target.kind !== 'object') return runtime;
      return this.apply(target.get(callee.name.text) ?? runtime, node, scope);
    }
    return this.apply(this.evaluate(callee, scope), node, scope);
  }

  private apply(target: Value, call: ts.CallExpression, scope: Scope | null): Value {
    if (target.kind !== 'function' || this.running.has(call)) return runtime;
    this.running.add(call);
    try {
      return this.invoke(target, this.argumentsOf(call, scope));
    } finally {
      this.running.delete(call);
    }
  }

  private invoke(
    { node, scope: parent }: { node: FunctionNode; scope: Scope },
    given: (at: number) => Value,
  ): Value {
    const scope: Scope = { node, given, parent };
    if (node.body === undefined) return runtime;
    if (!ts.isBlock(node.body)) return this.evaluate(node.body, scope);
    return this.run(node.body, scope) ?? missing;
  }

  /** Runs a statement of a function: returns what the function returns; null if the next statement follows. */
  private run(node: ts.Statement, scope: Scope): Value | null {
    if (ts.isReturnStatement(node))
      return node.expression === undefined ? missing : this.evaluate(node.expression, scope);
    if (!this.sources.returns(node)) return null;
    if (ts.isBlock(node)) return this.runAll(node.statements, scope);
    if (ts.isIfStatement(node)) {
      const condition = this.evaluate(node.expression, scope);
      const other = this.isOther(condition, node.expression);
      const branch = other ? node.elseStatement : node.thenStatement;
      return branch === undefined ? null : this.run(branch, scope);
    }
    if (ts.isTryStatement(node)) return this.run(node.tryBlock, scope);
    if (ts.isSwitchStatement(node)) {
      const { clauses } = node.caseBlock;
      const subject = this.settled(this.evaluate(node.expression, scope));
      const fitting = clauses.findIndex(
        (clause) =>
          ts.isDefaultClause(clause) || this.same(subject, this.evaluate(clause.expression, scope)) === true,
      );
      const from = subject.kind === 'runtime' ? this.choose(node, 'case', clauses.length) : fitting;
      return from === -1
        ? null
        : this.runAll(
            clauses.slice(from).flatMap(({ statements }) => [...statements]),
            scope,
          );
    }
    if (ts.isForOfStatement(node)) return this.choosesOther(node) ? null : this.run(node.statement, scope);
    return null;
  }

  private runAll(statements: readonly ts.Statement[], scope: Scope): Value | null {
    for (const statement of statements) {
      const returned = this.run(statement, scope);
      if (returned !== null) return returned;
    }
    return null;
  }

  private builtIn(name: string, node: ts.CallExpression, scope: Scope | null): Value {
    const [given, second] = node.arguments.map((argument) => this.evaluate(argument, scope));
    const first = given === undefined || name === 'val' || name === 'join' ? given : this.settled(given);
    const fragment = (text: string): Value => ({ kind: 'sql', text });
    if (name === 'val') return fragment(PARAMETER);
    if (name === 'lit') {
      // A literal without a type takes the type that its place needs.
      if (first?.kind === 'known' && first.value !== undefined) return fragment(String(first.value));
      return fragment(first?.kind === 'text' ? `'${first.text.replaceAll("'", "''")}'` : "'1'");
    }
    if (name === 'join') {
      const separator = second?.kind === 'sql' ? second.text : ', ';
      if (first?.kind !== 'list') return fragment(PARAMETER);
      return fragment(first.items.map((item) => this.interpolated(item)).join(separator));
    }
    const text = first?.kind === 'text' ? first.text : first?.kind === 'runtime' ? first.likeness : undefined;
    if (text === undefined) throw new NotRenderable(`only the program knows the text of ${node.getText()}`);
    if (name === 'raw') return fragment(text);
    if (name === 'ref' || name === 'table' || name === 'id') return fragment(reference(text));
    throw new NotRenderable(`sql.${name}`);
  }

  private ofFragment(
    target: Value & { kind: 'sql' },
    name: string,
    node: ts.CallExpression,
    scope: Scope | null,
  ): Value {
    if (name !== 'as') return name === '$castTo' || name === '$notNull' ? target : runtime;
    const [argument] = node.arguments;
    const alias = argument === undefined ? missing : this.evaluate(argument, scope);
    return alias.kind === 'text' ? { ...target, text: `${target.text} as ${quoted(alias.text)}` } : runtime;
  }

  private ofObject(name: string, node: ts.CallExpression, scope: Scope | null): Value {
    const [argument] = node.arguments;
    const target = argument === undefined ? runtime : this.evaluate(argument, scope);
    if (target.kind !== 'object') return runtime;
    const keyOf = (key: string): Value => ({ kind: 'text', text: key });
    if (name === 'keys') return { kind: 'list', items: target.keys.map(keyOf) };
    const itemOf = (key: string) => target.get(key) ?? missing;
    if (name === 'values') return { kind: 'list', items: target.keys.map(itemOf) };
    if (name !== 'entries') return runtime;
    return {
      kind: 'list',
      items: target.keys.map((key) => ({ kind: 'list', items: [keyOf(key), itemOf(key)] })),
    };
  }

  /** Evaluates `Map.groupBy` as pairs of a key and its items; each item is a group of its own. */
  private groupBy({ arguments: [list, keyOf] }: ts.CallExpression, scope: Scope | null): Value {
    const all = list === undefined ? runtime : this.evaluate(list, scope);
    const by = keyOf === undefined ? runtime : this.evaluate(keyOf, scope);
    if (all.kind !== 'list' || by.kind !== 'function') return runtime;
    const groups = all.items.map((item): Value => {
      const key = this.invoke(by, (at) => (at === 0 ? item : runtime));
      return { kind: 'list', items: [key, { kind: 'list', items: [item] }] };
    });
    return { kind: 'list', items: groups };
  }

  private ofList(
    target: Value & { kind: 'list' | 'runtime' },
    name: string,
    node: ts.CallExpression,
    scope: Scope | null,
  ): Value {
    const [argument] = node.arguments;
    const given = argument === undefined ? missing : this.evaluate(argument, scope);
    // A list that is empty here has items in the running program.
    const items = target.kind === 'list' && target.items.length > 0 ? target.items : [runtime];
    if (name === 'map' || name === 'flatMap') {
      if (given.kind !== 'function') return runtime;
      const mapped = items.map((item, at) =>
        this.invoke(given, (place) =>
          place === 0 ? item : place === 1 && target.kind === 'list' ? { kind: 'known', value: at } : runtime,
        ),
      );
      const hasSql = mapped.some((value) => value.kind !== 'runtime');
      if (target.kind === 'runtime' && !hasSql) return runtime;
      return {
        kind: 'list',
        items: mapped.flatMap((value) =>
          name === 'flatMap' && value.kind === 'list' ? value.items : [value],
        ),
      };
    }
    if (target.kind === 'runtime') return runtime;
    if (name === 'filter' || name === 'toSorted' || name === 'slice' || name === 'toReversed') return target;
    if (name === 'concat')
      return { kind: 'list', items: [...items, ...(given.kind === 'list' ? given.items : [given])] };
    if (name === 'join' && items.every((item) => item.kind === 'text'))
      return {
        kind: 'text',
        text: items
          .map((item) => (item.kind === 'text' ? item.text : ''))
          .join(given.kind === 'text' ? given.text : ','),
      };
    if (name === 'at') return items[0] ?? runtime;
    return runtime;
  }
}

/** Numbers the parameters of a text. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll(PARAMETER, () => `$${++count}`);
}

/** Renders the statement that an expression composes; null if it is not SQL. */
export function render(sources: Sources, node: ts.Expression, choices: Choices): Rendering | null {
  const renderer = new Renderer(sources, choices);
  const value = renderer.evaluate(node, null);
  if (value.kind !== 'sql' && value.kind !== 'text') return null;
  return { text: numbered(value.text), branches: renderer.branches };
}

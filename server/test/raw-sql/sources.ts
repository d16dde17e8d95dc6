import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../../..');
const sourceDirectory = join(root, 'server/src/');

/** The packages whose types rows are declared with; the others are left out, which halves the time. */
const packages = /^(\.|@vitrine\/contract|kysely|typebox|pg$)/;

/** The program of the server's sources. */
export interface Sources {
  files: readonly ts.SourceFile[];
  checker: ts.TypeChecker;
  /** Returns the declaration that an identifier refers to, in whichever module it is. */
  declarationOf(name: ts.Identifier): ts.Declaration | undefined;
  /** Returns the texts that a declaration or an expression may be if its type lists them, otherwise null. */
  textsOf(node: ts.Node): readonly string[] | null;
  /** Returns the declaration of the property or variable that an expression reads, or the expression itself. */
  memberOf(node: ts.Node): ts.Node;
  /** Returns whether the function that a statement belongs to may return there. */
  returns(statement: ts.Node): boolean;
  /** Returns what the function that declares a variable assigns to it, and adds to it as a list. */
  changesOf(declaration: ts.VariableDeclaration): Changes;
  /** Returns the calls of a function by its name. */
  callsOf(declaration: ts.Declaration, name: string): readonly ts.CallExpression[];
}

/** How a function changes a variable after its declaration. */
interface Changes {
  assigned: readonly ts.Expression[];
  pushed: readonly ts.CallExpression[];
}

/** Returns a function that computes the result for a node once. */
function once<N extends ts.Node, T>(compute: (node: N) => T): (node: N) => T {
  const known = new Map<N, T>();
  return (node) => {
    const found = known.get(node);
    if (found !== undefined || known.has(node)) return found as T;
    const computed = compute(node);
    known.set(node, computed);
    return computed;
  };
}

function createProgram(): ts.Program {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ESNext,
    lib: ['lib.esnext.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  // Nothing reads the comments, and without a cache of its own, the program would read the packages' metadata for each file.
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  const cache = ts.createModuleResolutionCache(root, (path) => path, options);
  host.getModuleResolutionCache = () => cache;
  host.resolveModuleNameLiterals = (literals, containing, redirected, given) =>
    literals.map(({ text }) =>
      containing.startsWith(sourceDirectory) && !packages.test(text)
        ? { resolvedModule: undefined }
        : ts.resolveModuleName(text, containing, given, host, cache, redirected),
    );
  const files = readdirSync(sourceDirectory, { recursive: true, encoding: 'utf8' });
  return ts.createProgram(
    files.filter((name) => name.endsWith('.ts')).map((name) => join(sourceDirectory, name)),
    options,
    host,
  );
}

/** Calls `visit` with a node and everything in it. */
export function visitAll(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => visitAll(child, visit));
}

export function readSources(): Sources {
  const program = createProgram();
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(sourceDirectory));
  const declarationOf = once((name: ts.Identifier) => {
    const { parent } = name;
    const symbol = ts.isShorthandPropertyAssignment(parent)
      ? checker.getShorthandAssignmentValueSymbol(parent)
      : checker.getSymbolAtLocation(name);
    if (symbol === undefined) return undefined;
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return target.valueDeclaration;
  });
  /** Whether the type of a node is written down, or that of what it is taken from; inferring it may take seconds. */
  const isDeclared = (node: ts.Node): boolean => {
    if (ts.isPropertyAccessExpression(node)) return isDeclared(node.expression);
    if (ts.isBindingElement(node)) return isDeclared(node.parent.parent);
    if (ts.isParameter(node)) return node.type !== undefined;
    if (ts.isVariableDeclaration(node)) {
      const loop = node.parent.parent;
      const from = ts.isForOfStatement(loop) ? loop.expression : node.initializer;
      return node.type !== undefined || (from !== undefined && isDeclared(from));
    }
    if (ts.isAwaitExpression(node) || ts.isCallExpression(node)) return isDeclared(node.expression);
    if (ts.isTaggedTemplateExpression(node)) return node.typeArguments !== undefined;
    if (ts.isFunctionDeclaration(node)) return node.type !== undefined;
    const declaration = ts.isIdentifier(node) ? declarationOf(node) : undefined;
    return declaration !== undefined && isDeclared(declaration);
  };
  const textsOf = once((node: ts.Node) => {
    if (!isDeclared(node)) return null;
    const type = checker.getTypeAtLocation(node);
    const members = type.isUnion() ? type.types : [type];
    const texts = members.flatMap((member) => (member.isStringLiteral() ? [member.value] : []));
    return texts.length === 0 ? null : texts;
  });
  const memberOf = once(
    (node: ts.Node): ts.Node =>
      (ts.isPropertyAccessExpression(node)
        ? checker.getSymbolAtLocation(node.name)?.valueDeclaration
        : undefined) ?? node,
  );
  const returns = once((node: ts.Node): boolean => {
    if (ts.isReturnStatement(node)) return true;
    return (
      !ts.isFunctionLike(node) && (ts.forEachChild(node, (child) => returns(child) || undefined) ?? false)
    );
  });
  const changesOf = once((declaration: ts.VariableDeclaration): Changes => {
    const assigned: ts.Expression[] = [];
    const pushed: ts.CallExpression[] = [];
    const is = (node: ts.Node) =>
      ts.isIdentifier(node) &&
      node.text === declaration.name.getText() &&
      declarationOf(node) === declaration;
    let around: ts.Node = declaration;
    while (!ts.isFunctionLike(around) && !ts.isSourceFile(around)) around = around.parent;
    visitAll(around, (node) => {
      if (ts.isBinaryExpression(node)) {
        if (node.operatorToken.kind === ts.SyntaxKind.EqualsToken && is(node.left)) assigned.push(node.right);
      } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
        const { expression, name } = node.expression;
        if (name.text === 'push' && is(expression)) pushed.push(node);
      }
    });
    return { assigned, pushed };
  });
  const callsByName = new Map<string, ts.CallExpression[]>();
  for (const file of files) {
    visitAll(file, (node) => {
      if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return;
      const calls = callsByName.get(node.expression.text) ?? [];
      callsByName.set(node.expression.text, [...calls, node]);
    });
  }
  const callsOf = (declaration: ts.Declaration, name: string) =>
    (callsByName.get(name) ?? []).filter(
      ({ expression }) => ts.isIdentifier(expression) && declarationOf(expression) === declaration,
    );
  return { files, checker, declarationOf, textsOf, memberOf, returns, changesOf, callsOf };
}

/** Returns `content/posts/feed.ts:12`, the position of a node below `server/src`. */
export function positionOf(node: ts.Node): string {
  const file = node.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(node.getStart());
  return `${file.fileName.slice(sourceDirectory.length)}:${line + 1}`;
}

/** Returns the file and the named function that a node is in, `content/posts/feed.ts feedRows`. */
export function functionOf(node: ts.Node): string {
  const file = node.getSourceFile().fileName.slice(sourceDirectory.length);
  let outermost = '';
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (!ts.isFunctionDeclaration(at) && !ts.isVariableDeclaration(at)) continue;
    if (at.name !== undefined && ts.isIdentifier(at.name)) outermost = at.name.text;
  }
  return `${file} ${outermost}`;
}

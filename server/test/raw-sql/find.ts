import ts from 'typescript';
import { functionOf, positionOf, type Sources, visitAll } from './sources.ts';

/** A statement that the sources write as SQL. */
export interface RawStatement {
  /** Its place, `content/posts/feed.ts:12`. */
  position: string;
  /** The function that runs it, `content/posts/feed.ts feedRows`: independent of the lines above it. */
  name: string;
  /** The expression that composes its text. */
  composed: ts.Expression;
  /** The declared type of its rows; null if nothing reads them. */
  row: ts.Type | null;
}

function isSql(node: ts.Expression): node is ts.TaggedTemplateExpression {
  return ts.isTaggedTemplateExpression(node) && ts.isIdentifier(node.tag) && node.tag.text === 'sql';
}

/** Returns the row type of an expression if it is a `RawBuilder`, otherwise undefined. */
function rowOfBuilder({ checker }: Sources, node: ts.Expression): ts.Type | undefined {
  const type = checker.getTypeAtLocation(node);
  const name = (type.aliasSymbol ?? type.symbol)?.name;
  return name === 'RawBuilder'
    ? ((type as ts.TypeReference).typeArguments?.[0] ?? checker.getTypeArguments(type as ts.TypeReference)[0])
    : undefined;
}

const isUnread = (type: ts.Type | undefined) =>
  type === undefined || (type.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) !== 0;

/** Returns whether a text is a statement that can be prepared, not a command such as `begin` or a part of one. */
export const isStatement = (text: string) => /^[\s(]*(select|with|insert|update|delete|values)\b/i.test(text);

const isCommand = (text: string) => /^\s*(set|lock|analyze|create|drop)\b/i.test(text);

function executed(
  sources: Sources,
  call: ts.CallExpression,
  method: ts.PropertyAccessExpression,
): RawStatement | null {
  const composed = method.expression;
  const place = { position: positionOf(composed), name: functionOf(call) };
  if (isSql(composed)) {
    const { template } = composed;
    if (isCommand(ts.isTemplateExpression(template) ? template.head.text : template.text)) return null;
    const given = composed.typeArguments?.[0];
    return {
      ...place,
      composed,
      row: given === undefined ? null : sources.checker.getTypeFromTypeNode(given),
    };
  }
  const [argument] = call.arguments;
  if (argument === undefined || ts.isArrowFunction(argument)) return null;
  const row = rowOfBuilder(sources, composed);
  if (row === undefined) return null;
  return { ...place, composed, row: isUnread(row) ? null : row };
}

function queried({ checker }: Sources, call: ts.CallExpression): RawStatement | null {
  const [composed] = call.arguments;
  const given = call.typeArguments?.[0];
  // Without a row type, only a text that is written here is a statement of its own.
  if (composed === undefined) return null;
  if (given === undefined && !(ts.isStringLiteralLike(composed) && isStatement(composed.text))) return null;
  return {
    position: positionOf(call),
    name: functionOf(call),
    composed,
    row: given === undefined ? null : checker.getTypeFromTypeNode(given),
  };
}

/** Finds every statement that Kysely or the driver gets as SQL. */
export function findStatements(sources: Sources): RawStatement[] {
  const found: RawStatement[] = [];
  for (const file of sources.files) {
    // Statements of the database that is imported.
    if (file.fileName.endsWith('/mysql.ts')) continue;
    visitAll(file, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const method = node.expression;
      const statement =
        method.name.text === 'execute' || method.name.text === 'compile'
          ? executed(sources, node, method)
          : method.name.text === 'query'
            ? queried(sources, node)
            : null;
      if (statement !== null) found.push(statement);
    });
  }
  return found;
}

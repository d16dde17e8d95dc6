import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A change of one place of a rule that some test must notice. */
export interface Mutant {
  /** Stable as long as the file does not change: `posts.ts:31 and -> or`. */
  name: string;
  file: string;
  start: number;
  end: number;
  replacement: string;
}

const rules = join(import.meta.dirname, '../../../src/access');

/** What a part of an SQL text becomes. */
const inSql: readonly [RegExp, string][] = [
  [/\band\b/g, 'or'],
  [/\bor\b/g, 'and'],
  [/\bis not null\b/g, 'is null'],
  [/\bis null\b/g, 'is not null'],
  [/\bnot (?=exists|[a-z(])(?!null|in\b)/g, ''],
  [/ = (?!any)/g, ' <> '],
  [/ <> /g, ' = '],
  [/ > /g, ' < '],
  // The first value of a list.
  [/(?<=\bin \()'[a-z-]+', /g, ''],
];

const inCode = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.TrueKeyword, 'false'],
  [ts.SyntaxKind.FalseKeyword, 'true'],
]);

const isTemplatePart = (node: ts.Node) =>
  ts.isNoSubstitutionTemplateLiteral(node) ||
  ts.isTemplateHead(node) ||
  ts.isTemplateMiddle(node) ||
  ts.isTemplateTail(node);

function changesOf(node: ts.Node, source: ts.SourceFile): Pick<Mutant, 'start' | 'end' | 'replacement'>[] {
  const [start, end] = [node.getStart(source), node.getEnd()];
  if (isTemplatePart(node)) {
    const text = source.text.slice(start, end);
    if (/^[`}](true|false)`$/.test(text)) {
      return [{ start, end, replacement: text.includes('true') ? '`false`' : '`true`' }];
    }
    return inSql.flatMap(([pattern, replacement]) =>
      [...text.matchAll(pattern)].map(({ index, 0: { length } }) => ({
        start: start + index,
        end: start + index + length,
        replacement,
      })),
    );
  }
  // The operand remains.
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [{ start, end: start + 1, replacement: '' }];
  }
  // In types, literals are not values.
  const replacement = ts.isLiteralTypeNode(node.parent ?? node) ? undefined : inCode.get(node.kind);
  return replacement === undefined ? [] : [{ start, end, replacement }];
}

/** Returns every mutant of the rules of `access/`, in the order of files and lines. */
export function listMutants(): Mutant[] {
  return readdirSync(rules)
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(rules, file), 'utf8');
      const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
      const found: Mutant[] = [];
      const visit = (node: ts.Node): void => {
        for (const { start, end, replacement } of changesOf(node, source)) {
          const { line } = source.getLineAndCharacterOfPosition(start);
          const before = text.slice(start, end).trim();
          const name = `${file}:${line + 1} ${before} -> ${replacement.trim() || 'nothing'}`;
          const same = found.filter((one) => one.name.startsWith(name)).length;
          found.push({
            name: same === 0 ? name : `${name} (${same + 1})`,
            file: join(rules, file),
            start,
            end,
            replacement,
          });
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
      return found;
    });
}

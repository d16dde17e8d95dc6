import type { Library } from './library.ts';
import type { Statement } from './statements.ts';

/** A step of a plan that was executed. */
interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  Plans?: Node[];
}

/** Executes a statement and returns all steps of its plan. */
export async function planOf(
  { database: { pool } }: Pick<Library, 'database'>,
  { text, values }: Statement,
): Promise<Node[]> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, format json) ${text}`,
    values,
  );
  const nodes: Node[] = [];
  const visit = (node: Node) => {
    nodes.push(node);
    for (const one of node.Plans ?? []) visit(one);
  };
  for (const row of rows) visit(row['QUERY PLAN'][0].Plan);
  return nodes;
}

/** Returns how many rows of a table these steps read. */
export const touched = (nodes: readonly Node[], relation: string): number =>
  nodes
    .filter((node) => node['Relation Name'] === relation)
    .reduce((sum, node) => sum + (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1), 0);

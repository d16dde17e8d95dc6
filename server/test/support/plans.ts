import pg from 'pg';
import type { Library } from './library.ts';
import type { Statement } from './statements.ts';

/** A step of a plan that was executed. */
interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Node[];
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  const text = Array.isArray(value)
    ? `{${value.map((one) => JSON.stringify(String(one))).join()}}`
    : String(value);
  return pg.escapeLiteral(text);
}

/** Executes a statement with its cached plan, as the service runs it, and returns all steps of that plan. */
export async function planOf(
  { database: { pool } }: Pick<Library, 'database'>,
  { text, values }: Statement,
): Promise<Node[]> {
  const client = await pool.connect();
  await client.query(`prepare planned as ${text}`);
  const call = values.length === 0 ? 'planned' : `planned(${values.map(literal).join()})`;
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, format json) execute ${call}`,
  );
  await client.query('deallocate planned');
  client.release();
  const nodes: Node[] = [];
  const visit = (node: Node) => {
    nodes.push(node);
    for (const one of node.Plans ?? []) visit(one);
  };
  for (const row of rows) visit(row['QUERY PLAN'][0].Plan);
  return nodes;
}

/** Returns how many rows a step returns or discards, over all its loops. */
export function rowsOf(node: Node): number {
  const rows = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return rows * (node['Actual Loops'] ?? 1);
}

/** Returns how many rows of a table these steps read. */
export const touched = (nodes: readonly Node[], relation: string): number =>
  nodes.filter((node) => node['Relation Name'] === relation).reduce((sum, node) => sum + rowsOf(node), 0);

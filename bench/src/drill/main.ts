import { parseArgs } from 'node:util';
import { median } from '../load.ts';
import { faults } from './faults.ts';
import { type Result, tryFault } from './run.ts';

const usage = `npm run drill -- faults [--rounds 5] [--fault ${faults.map(({ name }) => name).join(',')}]`;

const columns = [
  'fault',
  'rounds',
  'acknowledged writes',
  'lost',
  'half-written',
  'process deaths',
  'wrong statuses',
  'late answers',
  'recovery, median',
  'recovery, longest',
];

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`;

function rowOf(result: Result): string[] {
  const { fault, skipped, rounds, acknowledged, lost, halves, deaths, wrong, late, recoveries } = result;
  if (skipped !== null) return [fault.what, `skipped: ${skipped}`, ...columns.slice(2).map(() => '')];
  const count = [...wrong.values()].reduce((sum, one) => sum + one, 0);
  const figures = [rounds, acknowledged, lost.length, halves.length, deaths.length, count, late.length];
  const none = recoveries.length === 0;
  const times = none ? ['never', 'never'] : [seconds(median(recoveries)), seconds(Math.max(...recoveries))];
  return [fault.what, ...figures.map(String), ...times];
}

/** Returns the results as a Markdown table that is also readable as plain text. */
function tableOf(results: readonly Result[]): string {
  const rows = [columns, ...results.map(rowOf)];
  const widths = columns.map((_, at) =>
    Math.max(...rows.map((row) => (row[1]?.startsWith('skipped') && at > 0 ? 0 : (row[at]?.length ?? 0)))),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const [head = [], ...rest] = rows;
  return [line(head), rule, ...rest.map(line)].join('\n');
}

/** Returns all failures in full. */
function detailsOf({ fault, lost, halves, deaths, wrong, late }: Result): string[] {
  const statuses = [...wrong].map(([what, count]) => `wrong status: ${what}, ${count} times`);
  const slow = late.length === 0 ? [] : [`late: the slowest answer took ${seconds(Math.max(...late))}`];
  return [
    ...lost.map((one) => `lost: ${one}`),
    ...halves.map((one) => `half-written: ${one}`),
    ...deaths.map((one) => `death: ${one}`),
    ...statuses,
    ...slow,
  ].map((one) => `${fault.name}: ${one}`);
}

async function drillFaults(names: readonly string[], rounds: number): Promise<boolean> {
  const results: Result[] = [];
  try {
    for (const fault of faults.filter(({ name }) => names.includes(name)))
      results.push(await tryFault(fault, rounds, (line) => console.error(line)));
  } finally {
    // Reports even if the drill itself fails, because its results up to then took time to obtain.
    console.log(tableOf(results));
  }
  const details = results.flatMap(detailsOf);
  for (const line of details) console.log(line);
  return details.length === 0;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    fault: { type: 'string', default: faults.map(({ name }) => name).join(',') },
  },
});
const rounds = Number(values.rounds);
const names = values.fault.split(',');
const known = faults.map(({ name }) => name);
if (positionals[0] !== 'faults' || !(rounds >= 1) || names.some((name) => !known.includes(name))) {
  console.error(usage);
  process.exitCode = 2;
} else if (!(await drillFaults(names, rounds))) process.exitCode = 1;

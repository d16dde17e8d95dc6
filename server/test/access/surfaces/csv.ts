import type { CsvPreview } from '@vitrine/contract/asset-csv';
import { parse } from 'csv-parse/sync';
import { answerOf, editsAsset } from '../due.ts';
import { byAssets } from '../matrix.ts';
import { accountDoor, assetDoor, labelOfAsset, refusalOf } from '../send-requests.ts';
import { type Matrix, portion } from '../setting.ts';
import type { Caller } from '../world.ts';

/** CSV files of metadata: which assets have a row, and what a dry run says of a row for each. */

/** How many ids an address has room for. */
const AT_ONCE = 200;

/** Changes the title of each asset without writing it. Writing decides as a batch does. */
async function lookAtImport({ world, ledger }: Matrix, caller: Caller): Promise<void> {
  const cells = portion(caller, world.assets, byAssets);
  const body = new FormData();
  const rows = cells.map(({ id }) => `${id},of a CSV file`);
  body.append('file', new Blob([`id,title\n${rows.join('\n')}`]), 'titles.csv');
  const { status, text } = await caller.visitor.send('/assets/import.csv?dry_run=true', {
    method: 'POST',
    body,
  });
  ledger.hold(`${caller.name}: import of CSV: status`, status, refusalOf(caller, assetDoor) ?? 200);
  if (status !== 200) return;
  const preview: CsvPreview = JSON.parse(text);
  const reasons = new Map(preview.refused.map(({ id, reason }) => [id, reason]));
  const changed = new Set(preview.changes.map(({ id }) => id));
  for (const cell of cells)
    ledger.hold(
      () => `${caller.name}: import of CSV: ${labelOfAsset(cell)}`,
      reasons.get(cell.id) ?? (changed.has(cell.id) ? 'changed' : 'unchanged'),
      editsAsset(caller.kind, cell)
        ? 'changed'
        : answerOf(caller.kind, cell) === 'missing'
          ? 'not found'
          : 'only its owner can change it',
    );
}

export async function lookAtCsv(matrix: Matrix, caller: Caller): Promise<void> {
  const { ledger, world } = matrix;
  const refusal = refusalOf(caller, accountDoor);
  const cells = portion(caller, world.assets, byAssets);
  for (let at = 0; at < cells.length; at += AT_ONCE) {
    const asked = cells.slice(at, at + AT_ONCE);
    const query = asked.map(({ id }) => `ids=${id}`).join('&');
    const { status, text } = await caller.visitor.send(`/assets/export.csv?${query}`);
    ledger.hold(`${caller.name}: export as CSV: status`, status, refusal ?? 200);
    if (status !== 200) break;
    const rows = new Set(parse<{ id: string }>(text, { columns: true }).map(({ id }) => id));
    for (const cell of asked)
      ledger.hold(
        () => `${caller.name}: export as CSV: ${labelOfAsset(cell)}`,
        rows.has(cell.id),
        answerOf(caller.kind, cell) === 'shown',
      );
  }
  await lookAtImport(matrix, caller);
}

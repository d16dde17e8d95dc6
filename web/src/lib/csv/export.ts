import type { AssetQuery } from '@vitrine/contract/assets';
import type { AssetSelection } from '@vitrine/contract/batches';
import { CallError } from '@vitrine/contract/client';
import { saveAs } from '#lib/downloads/save.ts';

/** How many ids an address has room for. */
const atOnce = 300;

const path = '/api/v1/assets/export.csv';

/** Returns the address of a CSV file of the assets that match. Excel needs the byte order mark. */
export function exportAddress(query: AssetQuery): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value]) params.append(name, String(item));
  params.set('bom', 'true');
  return `${path}?${params}`;
}

/** Returns the query of the list for a selection; undefined if the list has no such filter. */
export function exportQueryOf({
  state_id,
  sensitivity,
  collection,
  ...query
}: AssetSelection): AssetQuery | undefined {
  return state_id === undefined && sensitivity === undefined && collection === undefined ? query : undefined;
}

async function readCsv(ids: readonly string[]): Promise<string> {
  const answer = await fetch(`${path}?${ids.map((id) => `ids=${id}`).join('&')}`);
  if (!answer.ok) throw new CallError(answer.status, answer.statusText);
  return answer.text();
}

/** Returns the CSV file of these assets, of which there may be more than an address has room for. */
async function csvOf(ids: readonly string[]): Promise<Blob> {
  const parts = ['\ufeff'];
  for (let at = 0; at < ids.length; at += atOnce) {
    const text = await readCsv(ids.slice(at, at + atOnce));
    // The names of the columns contain no line break.
    parts.push(at === 0 ? text : text.slice(text.indexOf('\n') + 1));
  }
  return new Blob(parts, { type: 'text/csv' });
}

/** Saves the metadata of these assets as CSV. Rejects with CallError. */
export async function saveCsv(ids: readonly string[]): Promise<void> {
  const address = URL.createObjectURL(await csvOf(ids));
  saveAs('metadata.csv', address);
  URL.revokeObjectURL(address);
}

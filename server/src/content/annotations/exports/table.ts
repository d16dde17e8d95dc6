import type { ExportRate } from '@vitrine/contract/annotation-exports';
import { neutralised } from '../../csv/formulas.ts';
import { type ExportedAnnotation, onOneLine } from './read.ts';
import { countingOf, spanOf, timecodeOf } from './timecode.ts';

const columns = [
  ...['id', 'asset_id', 'file', 'version', 'kind', 'timecode', 'frame', 'end_timecode', 'end_frame'],
  ...['start', 'end', 'page', 'x', 'y', 'w', 'h', 'author', 'guest', 'body', 'drawing', 'state', 'assignee'],
  ...['created_at', 'resolved_at'],
] as const;

type Cells = Partial<Record<(typeof columns)[number], string | number>>;

/** The cells of a place; times as frames and as timecode from that of the file on (ANNOTATION-13). */
function placeOf({ anchor, facts }: ExportedAnnotation, rate: ExportRate | undefined): Cells {
  const { kind } = anchor;
  if (kind === 'camera' || kind === 'shape') return { kind };
  if (kind !== 'time') return { ...anchor };
  const counting = countingOf(facts, rate);
  const { frame, length } = spanOf(anchor, counting);
  const at = (number: number) => timecodeOf(counting.start + number, counting);
  const end = anchor.end === undefined ? {} : { end_timecode: at(frame + length), end_frame: frame + length };
  return { ...anchor, timecode: at(frame), frame, ...end };
}

/** Writes annotations as CSV. Texts are on one line, and none is a formula (ANNOTATION-12). */
export async function writeTable(
  annotations: readonly ExportedAnnotation[],
  rate: ExportRate | undefined,
): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const text = (value: string) => neutralised(onOneLine(value));
  const rows = annotations.map(
    (annotation): Cells => ({
      id: annotation.id,
      asset_id: annotation.asset_id,
      file: text(annotation.file),
      version: annotation.version,
      ...placeOf(annotation, rate),
      author: text(annotation.author),
      guest: text(annotation.guest),
      body: text(annotation.body),
      drawing: annotation.has_drawing ? 'yes' : '',
      state: annotation.resolved_at === null ? 'open' : 'resolved',
      assignee: text(annotation.assignee),
      created_at: annotation.created_at,
      resolved_at: annotation.resolved_at ?? '',
    }),
  );
  // Spreadsheets that expect another separator must not split a cell.
  return stringify(rows, { header: true, columns: [...columns], quoted_match: /[;\t]/ });
}

import { textOfSheet } from '../../annotations/sheets.ts';
import { requestAs } from '../../support/client.ts';
import { type Annotated, discusses, type Note, readsNote, seesDrawing, wordsOf } from '../annotated-world.ts';
import { must } from '../cells.ts';
import { type AssetCell, answerOf, type PostCell, type Switches } from '../due.ts';
import { labelOfAsset, labelOfPost, readDoor, refusalOf } from '../send-requests.ts';
import { asksAll, type Matrix, seedOf } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Exports of annotations: tables, timelines, contact sheets and drawings. */

const inOrder = (ids: Iterable<string>) => [...ids].toSorted().join(' ');

/** Returns the ids of the annotations and replies whose words are in a text. */
function idsIn(text: string): string {
  const found = text.matchAll(new RegExp(wordsOf('([0-9a-f-]{36})'), 'g'));
  return inOrder(new Set(Array.from(found, ([, id]) => must(id, 'id'))));
}

/** What a caller should find in an export. */
interface Export {
  path: string;
  label: string;
  /** The status for callers who are not refused. */
  status: number;
  notes: readonly Note[];
}

const readable = (annotated: Annotated, { kind }: Caller, isIt: (note: Note) => boolean) =>
  annotated.notes.filter((note) => isIt(note) && readsNote(annotated, kind, note));

function ofPost(annotated: Annotated, caller: Caller, post: PostCell, form: 'csv' | 'pdf'): Export {
  return {
    path: `/posts/${post.id}/annotations.${form}`,
    label: labelOfPost(post),
    status: discusses(annotated, caller.kind, post) ? 200 : 404,
    notes: readable(annotated, caller, (note) => note.post.id === post.id),
  };
}

const timelines = ['edl', 'otio', 'fcpxml'] as const;

/** Exports of a file are for callers who are shown it outside of reviews; timelines are of films and have only times. */
function ofAsset(
  annotated: Annotated,
  caller: Caller,
  asset: AssetCell,
  form: 'csv' | 'pdf' | (typeof timelines)[number],
): Export {
  const isTimeline = timelines.some((one) => one === form);
  const status = isTimeline && asset.rendered !== 'all' ? 409 : 200;
  return {
    path: `/assets/${asset.id}/annotations.${form}`,
    label: labelOfAsset(asset),
    status: answerOf(caller.kind, asset) === 'shown' ? status : 404,
    notes: readable(
      annotated,
      caller,
      (note) => note.asset.id === asset.id && (!isTimeline || note.state === 'resolved'),
    ),
  };
}

function hold(
  { ledger }: Matrix,
  caller: Caller,
  due: Export,
  seen: { status: number; text: string },
  switches: Switches,
) {
  const label = `${caller.name}: ${due.path}: ${due.label}`;
  ledger.hold(label, seen.status, refusalOf(caller, readDoor, switches) ?? due.status);
  if (seen.status === 200)
    ledger.hold(`${label}: which`, idsIn(seen.text), inOrder(due.notes.map(({ id }) => id)));
}

/** ANNOTATION-12. */
export async function lookAtTable(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  post: PostCell,
  switches: Switches,
) {
  const due = ofPost(annotated, caller, post, 'csv');
  hold(matrix, caller, due, await caller.visitor.send(due.path), switches);
}

/** ANNOTATION-12: the forms alternate. */
export async function lookAtAssetExports(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  asset: AssetCell,
  switches: Switches,
) {
  const turn = seedOf(caller) + matrix.world.assets.indexOf(asset);
  for (const [index, form] of (['csv', ...timelines] as const).entries()) {
    if (!asksAll && (index + turn) % 2 === 0) continue;
    const due = ofAsset(annotated, caller, asset, form);
    hold(matrix, caller, due, await caller.visitor.send(due.path), switches);
  }
}

/**
 * ANNOTATION-14: callers with a session, because tokens read the same. Of a post or of a file by turns, because nothing
 * else here takes as long as drawing a sheet.
 */
export async function lookAtSheets(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  { post, asset }: { post: PostCell; asset: AssetCell },
  switches: Switches,
) {
  const both = [ofPost(annotated, caller, post, 'pdf'), ofAsset(annotated, caller, asset, 'pdf')];
  for (const [index, due] of both.entries()) {
    if (!asksAll && (index + seedOf(caller)) % 2 === 0) continue;
    const answer = await requestAs(caller.visitor, matrix.world.library, due.path);
    const bytes = await answer.arrayBuffer();
    const text = answer.status === 200 ? await textOfSheet(bytes) : '';
    hold(matrix, caller, due, { status: answer.status, text }, switches);
  }
}

/** ANNOTATION-20. */
export async function lookAtDrawing(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  note: Note,
  switches: Switches,
) {
  const { status } = await caller.visitor.send(`/comments/${note.id}/drawing.png`);
  const due = seesDrawing(annotated, caller.kind, note, switches) ? 200 : 404;
  const label = `${caller.name}: drawing: ${labelOfAsset(note.asset)} in ${labelOfPost(note.post)}`;
  matrix.ledger.hold(label, status, refusalOf(caller, readDoor, switches) ?? due);
}

import type { PlaceCluster, TimelineMonth } from '@vitrine/contract/browsing';
import { answerOf, type Switches } from '../due.ts';
import { readDoor, refusalOf } from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';

/** The month and the place of every asset of the world. */
export const MONTH = '2019-12';
export const DAY = '12-24';
export const BOX = '10,47,12,49';

async function countedAt(matrix: Matrix, caller: Caller, path: string, switches: Switches) {
  const { status, text } = await caller.visitor.send(path);
  matrix.ledger.hold(`${caller.name}: ${path}: status`, status, refusalOf(caller, readDoor, switches) ?? 200);
  if (status !== 200) return null;
  const { months, clusters }: { months?: TimelineMonth[]; clusters?: PlaceCluster[] } = JSON.parse(text);
  const counted = months?.filter(({ month }) => month === MONTH) ?? clusters ?? [];
  return counted.reduce((sum, { count }) => sum + count, 0);
}

/** Timeline and map count exactly the assets whose columns the caller is shown. */
export async function lookAtCounts(matrix: Matrix, caller: Caller, switches: Switches): Promise<void> {
  const due = matrix.world.assets.filter((cell) => answerOf(caller.kind, cell) === 'shown').length;
  for (const path of ['/assets/timeline', `/assets/places?bbox=${BOX}&zoom=3`]) {
    const counted = await countedAt(matrix, caller, path, switches);
    if (counted !== null) matrix.ledger.hold(`${caller.name}: ${path}`, counted, due);
  }
}

import type { Duplicates } from '@vitrine/contract/duplicates';
import { editsAsset } from '../due.ts';
import { accountDoor, itemsAt, labelOfAsset, refusalOf } from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Groups of duplicates: they contain only assets that the caller may edit. */
export async function lookAtDuplicates({ ledger, world }: Matrix, caller: Caller): Promise<void> {
  const cells = new Map(world.assets.map((cell) => [cell.id, cell]));
  const refusal = refusalOf(caller, accountDoor);
  for (const kind of ['exact', 'similar']) {
    const path = '/assets/duplicates';
    const { status } = await caller.visitor.send(`${path}?kind=${kind}`);
    ledger.hold(`${caller.name}: ${path}?kind=${kind}: status`, status, refusal ?? 200);
    if (status !== 200) continue;
    const groups = await itemsAt<Duplicates>(caller.visitor, path, { kind });
    for (const { id } of groups.flatMap(({ assets }) => assets)) {
      const cell = cells.get(id);
      if (cell === undefined) continue;
      ledger.hold(
        () => `${caller.name}: ${path}?kind=${kind}: ${labelOfAsset(cell)}`,
        'listed',
        editsAsset(caller.kind, cell) ? 'listed' : 'absent',
      );
    }
  }
}

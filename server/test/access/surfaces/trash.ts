import { DELETED_AT } from '../cells.ts';
import type { AssetCell, CollectionCell, PostCell, Switches } from '../due.ts';
import { undoAnyDelete } from '../matrix.ts';
import { accountDoor, adminDoor, everyItem, refusalOf } from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Deleted objects: whose trash contains them, who restores them, and who may ask for a restore. */

type Thing =
  | { kind: 'post'; cell: PostCell }
  | { kind: 'asset'; cell: AssetCell }
  | { kind: 'collection'; cell: CollectionCell };
const deletedThings = (matrix: Matrix): Thing[] => [
  ...matrix.world.posts.filter(({ deleted }) => deleted).map((cell): Thing => ({ kind: 'post', cell })),
  ...matrix.world.assets.filter(({ deleted }) => deleted).map((cell): Thing => ({ kind: 'asset', cell })),
  ...matrix.world.collections
    .filter(({ deleted }) => deleted)
    .map((cell): Thing => ({ kind: 'collection', cell })),
];

const refOfPerson = (matrix: Matrix, thing: Thing) =>
  matrix.world.refs[thing.kind === 'post' ? thing.cell.author : thing.cell.owner];
const refOfDeleter = (matrix: Matrix, { cell }: Thing) =>
  cell.deletedBy === null ? null : matrix.world.refOf(cell.deletedBy);

/** TRASH-2. */
function undoes(matrix: Matrix, caller: Caller, thing: Thing): boolean {
  return undoAnyDelete.includes(caller.kind) || refOfDeleter(matrix, thing) === caller.ref;
}

const scopes = [
  { scope: 'owned_by_me', refOf: refOfPerson },
  { scope: 'deleted_by_me', refOf: refOfDeleter },
] as const;

/** TRASH-5: everyone's trash. */
async function lookAtEveryonesTrash(matrix: Matrix, caller: Caller, switches: Switches) {
  if (!undoAnyDelete.includes(caller.kind)) {
    const status = await caller.visitor.status('GET', '/account/trash?scope=everyone');
    matrix.ledger.hold(
      `${caller.name}: everyone's trash`,
      status,
      refusalOf(caller, accountDoor, switches) ?? 403,
    );
    return;
  }
  const query = 'scope=everyone';
  type Item = { id: string };
  const items = await everyItem<Item>(matrix.ledger, caller, '/account/trash', query, switches, accountDoor);
  if (items === null) return;
  const seen = items.map(({ id }) => id).toSorted();
  const due = deletedThings(matrix)
    .map(({ cell }) => cell.id)
    .toSorted();
  matrix.ledger.hold(`${caller.name}: everyone's trash`, seen.join(' '), due.join(' '));
}

export async function lookAtTrash(matrix: Matrix, caller: Caller, switches: Switches) {
  for (const { scope, refOf } of scopes) {
    type Item = { kind: string; id: string; restorable: boolean };
    const query = `scope=${scope}`;
    const items = await everyItem<Item>(
      matrix.ledger,
      caller,
      '/account/trash',
      query,
      switches,
      accountDoor,
    );
    if (items === null) continue;
    const seen = new Map(items.map(({ kind, id, restorable }) => [id, `${kind}, restorable ${restorable}`]));
    let due = 0;
    for (const thing of deletedThings(matrix)) {
      const isMine = refOf(matrix, thing) === caller.ref;
      if (isMine) due += 1;
      const look = isMine ? `${thing.kind}, restorable ${undoes(matrix, caller, thing)}` : 'absent';
      matrix.ledger.hold(() => `${caller.name}: trash ${scope}`, seen.get(thing.cell.id) ?? 'absent', look);
    }
    matrix.ledger.hold(`${caller.name}: trash ${scope}: how many, each once`, items.length, due);
  }
  await lookAtEveryonesTrash(matrix, caller, switches);
}

async function putBack(matrix: Matrix, thing: Thing): Promise<void> {
  const { kind, cell } = thing;
  const change = { deleted_at: DELETED_AT, deleted_by_user_ref: refOfDeleter(matrix, thing) };
  const { db } = matrix.world.library.deps;
  if (kind === 'post') await db.updateTable('posts').set(change).where('id', '=', cell.id).execute();
  else if (kind === 'asset') await db.updateTable('assets').set(change).where('id', '=', cell.id).execute();
  else await db.updateTable('collections').set(change).where('id', '=', cell.id).execute();
}

export function trashed(matrix: Matrix): Thing[] {
  const posts = matrix.world.sample.filter(({ deleted }, index) => deleted || index % 6 === 0);
  const assets = matrix.world.assets.filter(({ team }) => team === 'team').slice(0, 12);
  return [
    ...posts.map((cell): Thing => ({ kind: 'post', cell })),
    ...assets.map((cell): Thing => ({ kind: 'asset', cell })),
    ...matrix.world.collections.map((cell): Thing => ({ kind: 'collection', cell })),
  ];
}

export async function tryToRestore(matrix: Matrix, caller: Caller, thing: Thing, switches: Switches) {
  const { kind, cell } = thing;
  const status = await caller.visitor.status('POST', `/admin/${kind}s/${cell.id}/restore`);
  const scope = kind === 'asset' ? 'assets.write' : 'posts.write';
  const refusal = refusalOf(caller, { door: 'signedIn', scope }, switches);
  const due = refusal ?? (!cell.deleted ? 404 : undoes(matrix, caller, thing) ? 204 : 403);
  matrix.ledger.hold(`${caller.name}: restore a ${kind} deleted by ${cell.deletedBy}`, status, due);
  if (status === 204) await putBack(matrix, thing);
}

export async function tryToAppeal(matrix: Matrix, caller: Caller, thing: Thing, switches: Switches) {
  const { kind, cell } = thing;
  const status = await caller.visitor.status('POST', `/account/trash/${kind}/${cell.id}/request-restore`);
  const refusal = refusalOf(caller, adminDoor, switches);
  const isMine = cell.deleted && refOfPerson(matrix, thing) === caller.ref;
  const due = refusal ?? (!isMine ? 404 : undoes(matrix, caller, thing) ? 409 : 201);
  // Requested before by the same account in another way.
  const answered = status === 200 && due === 201 ? 201 : status;
  matrix.ledger.hold(`${caller.name}: appeal for a ${kind} deleted by ${cell.deletedBy}`, answered, due);
}

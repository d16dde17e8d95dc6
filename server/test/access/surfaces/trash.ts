import { everyItem } from '../asking.ts';
import { type AssetCell, type CollectionCell, type PostCell, refusalAt, type Switches } from '../due.ts';
import { undoAnyDelete } from '../matrix.ts';
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

export async function lookAtTrash(matrix: Matrix, caller: Caller, switches: Switches) {
  const door = { door: 'signedIn', scope: 'read' } as const;
  for (const { scope, refOf } of scopes) {
    type Item = { kind: string; id: string; restorable: boolean };
    const query = `scope=${scope}`;
    const items = await everyItem<Item>(matrix.ledger, caller, '/account/trash', query, switches, door);
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
}

async function putBack(matrix: Matrix, { kind, cell }: Thing): Promise<void> {
  const deleter = cell.deletedBy === null ? null : matrix.world.refOf(cell.deletedBy);
  const change = { deleted_at: '2026-01-01T00:00:00.000Z', deleted_by_user_ref: deleter };
  const { db } = matrix.world.library.deps;
  if (kind === 'post') await db.updateTable('posts').set(change).where('id', '=', cell.id).execute();
  else if (kind === 'asset') await db.updateTable('assets').set(change).where('id', '=', cell.id).execute();
  else await db.updateTable('collections').set(change).where('id', '=', cell.id).execute();
}

export function trashed(matrix: Matrix): Thing[] {
  const posts = matrix.world.sample
    .filter(({ deleted }, index) => deleted || index % 6 === 0)
    .map((cell): Thing => ({ kind: 'post', cell }));
  const assets = matrix.world.assets.filter(({ team }) => team === 'team').slice(0, 12);
  return [
    ...posts,
    ...assets.map((cell): Thing => ({ kind: 'asset', cell })),
    ...matrix.world.collections.map((cell): Thing => ({ kind: 'collection', cell })),
  ];
}

export async function tryToRestore(matrix: Matrix, caller: Caller, thing: Thing, switches: Switches) {
  const { kind, cell } = thing;
  const who = caller.kind;
  const { status } = await caller.visitor.send(`/admin/${kind}s/${cell.id}/restore`, { method: 'POST' });
  const scope = kind === 'asset' ? 'assets.write' : 'posts.write';
  const refusal = refusalAt(who, caller.scopes, { door: 'signedIn', scope }, switches);
  const due = refusal ?? (!cell.deleted ? 404 : undoes(matrix, caller, thing) ? 204 : 403);
  matrix.ledger.hold(`${caller.name}: restore a ${kind} deleted by ${cell.deletedBy}`, status, due);
  if (status === 204) await putBack(matrix, thing);
}

export async function tryToAppeal(matrix: Matrix, caller: Caller, thing: Thing, switches: Switches) {
  const { kind, cell } = thing;
  const path = `/account/trash/${kind}/${cell.id}/request-restore`;
  const { status } = await caller.visitor.send(path, { method: 'POST' });
  const refusal = refusalAt(caller.kind, caller.scopes, { door: 'signedIn', scope: 'admin' }, switches);
  const isMine = cell.deleted && refOfPerson(matrix, thing) === caller.ref;
  const due = refusal ?? (!isMine ? 404 : undoes(matrix, caller, thing) ? 409 : 201);
  // Requested before by the same account in another way.
  const answered = status === 200 && due === 201 ? 201 : status;
  matrix.ledger.hold(`${caller.name}: appeal for a ${kind} deleted by ${cell.deletedBy}`, answered, due);
}

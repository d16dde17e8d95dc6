import type { Answered, Visitor } from '../support/client.ts';
import { pagesOf } from '../support/pages.ts';
import { must } from './cells.ts';
import {
  type AssetCell,
  answerOf,
  type CollectionCell,
  type DoorOf,
  editsAsset,
  editsPost,
  type PostCell,
  readsPost,
  refusalAt,
  type Switches,
  type Thread,
} from './due.ts';
import type { Ledger } from './ledger.ts';
import type { CallerKind } from './matrix.ts';
import type { SeenPage } from './responses.ts';
import { asksAll, type Matrix, seedOf, usual } from './setting.ts';
import type { Caller } from './world.ts';

/** How the matrix sends requests: many at once, lists to their end, operations one by one. */

const AT_ONCE = 10;

/** Calls `look` for all of these, with limited concurrency. */
export async function together<T>(all: readonly T[], look: (one: T) => Promise<void>): Promise<void> {
  const waiting = all.values();
  const work = async () => {
    for (const one of waiting) await look(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

export const readDoor = { door: 'public', scope: 'read' } as const;
export const accountDoor = { door: 'signedIn', scope: 'read' } as const;
export const adminDoor = { door: 'signedIn', scope: 'admin' } as const;
export const postDoor = { door: 'signedIn', scope: 'posts.write' } as const;
export const assetDoor = { door: 'signedIn', scope: 'assets.write' } as const;
export const commentDoor = { door: 'signedIn', scope: 'comments.write' } as const;

/** ROLE-17: the refusal of an operation with this door, or null for callers who may call it. */
export const refusalOf = ({ kind, scopes }: Caller, door: DoorOf, switches: Switches = usual) =>
  refusalAt(kind, scopes, door, switches);

/** Returns the items of all pages of a list. */
export async function itemsAt<T>(
  visitor: Visitor,
  path: string,
  query: Record<string, string> = {},
): Promise<T[]> {
  const pages = await pagesOf(async (from): Promise<SeenPage<T>> => {
    const { text } = await visitor.send(
      `${path}?${new URLSearchParams({ ...query, limit: '200', ...from })}`,
    );
    return JSON.parse(text);
  });
  return pages.flat();
}

/**
 * Returns a list for this caller, from all its pages; null if the operation refuses the caller, which counts as a
 * separate cell.
 */
export async function everyItem<T>(
  ledger: Ledger,
  caller: Caller,
  at:
    | '/posts'
    | '/assets'
    | '/search'
    | '/account/trash'
    | '/collections'
    | `/collections/${string}/${'posts' | 'items'}`,
  query: string,
  switches: Switches,
  door: DoorOf = readDoor,
): Promise<T[] | null> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const from: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, text }: Answered = await caller.visitor.send(`${at}?limit=200&${query}${from}`);
    ledger.hold(`${caller.name}: ${at}?${query}: status`, status, refusalOf(caller, door, switches) ?? 200);
    if (status !== 200) return null;
    const page: SeenPage<T> = JSON.parse(text);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}

export function labelOfAsset(asset: AssetCell): string {
  const { status, processing, sensitivity, mature, deleted, team, owner } = asset;
  const marks = [mature && 'mature', deleted && 'deleted', owner !== 'owner' && `of ${owner}`];
  return [status, processing, sensitivity, `team ${team}`, ...marks.filter(Boolean)].join(' ');
}

export function labelOfCollection({ visibility, deleted, expired, owner }: CollectionCell): string {
  const marks = [deleted && 'deleted', expired && 'expired', owner !== 'author' && `of ${owner}`];
  return ['collection', visibility, ...marks.filter(Boolean)].join(' ');
}

export function labelOfPost(post: PostCell): string {
  const { visibility, draft, deleted, team, members } = post;
  const marks = [draft && 'draft', deleted && 'deleted'].filter(Boolean);
  const shown = members.map(labelOfAsset).join(' | ');
  return [visibility, ...marks, `team ${team}`, `with (${shown})`].join(' ');
}

export interface Probe<C> extends DoorOf {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: (cell: C) => string;
  body?: unknown;
  bodyOf?: (cell: C) => unknown;
  /** POST-4: whether all its 404s are the same, because they do not tell why the caller may not read the post. */
  hidesPost?: boolean;
  /** The expected status for callers who may call the operation, or several equivalent ones. Null: not requested. */
  due: (who: CallerKind, cell: C) => number | readonly number[] | null;
}

export async function ask<C>(
  matrix: Matrix,
  caller: Caller,
  probe: Probe<C>,
  cell: C,
  label: string,
  switches: Switches,
) {
  const due = refusalOf(caller, probe, switches) ?? probe.due(caller.kind, cell);
  if (due === null) return;
  const body = probe.bodyOf?.(cell) ?? probe.body;
  const { status, text } = await caller.visitor.send(probe.path(cell), { method: probe.method, body });
  const dueNow = typeof due === 'number' ? due : due.includes(status) ? status : due.join(' or ');
  const what = `${caller.name}: ${probe.method} ${probe.path(cell)}: ${label}`;
  matrix.ledger.hold(what, status, dueNow);
  if (status === 404 && probe.hidesPost === true)
    matrix.ledger.hold(`${what}: to the byte`, text, '{"error":"not found"}');
}

/** Returns the probe of an operation with this door. */
export const probe = <C>(
  door: DoorOf,
  method: Probe<C>['method'],
  path: NoInfer<Probe<C>['path']>,
  due: Probe<C>['due'],
  more: Pick<Probe<C>, 'body' | 'bodyOf'> = {},
): Probe<C> => ({ ...door, method, path, due, ...more });

/** Returns functions of the paths of these objects and below them. */
export const pathsOf =
  (objects: '/posts' | '/assets' | '/collections') =>
  (path: string) =>
  ({ id }: { id: string }) =>
    `${objects}/${id}${path}`;

/** 404 if not readable, 403 if only readable (POST-5, ASSET-13). */
export const changing = (reads: boolean, changes: boolean, done: number) =>
  changes ? done : reads ? 403 : 404;
export const changingPost = (who: CallerKind, post: PostCell, done: number) =>
  changing(readsPost(who, post), editsPost(who, post), done);
export const changingAsset = (who: CallerKind, asset: AssetCell, done: number) =>
  changing(answerOf(who, asset) !== 'missing', editsAsset(who, asset), done);
export const reading = (who: CallerKind, post: PostCell) => (readsPost(who, post) ? 200 : 404);
export const threadOf = ({ thread }: PostCell): Thread => must(thread, 'thread');

/** Sends each probe for one in `every` cells, with different cells for each caller. */
export async function askInTurns<C>(
  matrix: Matrix,
  caller: Caller,
  probes: readonly Probe<C>[],
  cells: readonly C[],
  labelOf: (cell: C) => string,
  every = 4,
) {
  const seed = seedOf(caller);
  const asked = cells.map((cell, place) => ({ cell, turn: place + seed }));
  await together(asked, async ({ cell, turn }) => {
    for (const [index, probe] of probes.entries())
      if (asksAll || (index + turn) % every === 0)
        await ask(matrix, caller, probe, cell, labelOf(cell), usual);
  });
}

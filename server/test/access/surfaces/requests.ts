import { randomUUID } from 'node:crypto';
import type { ResourceRequest } from '@vitrine/contract/requests';
import { must } from '../cells.ts';
import type { About } from '../described-world.ts';
import type { AssetCell, CollectionCell, PostCell } from '../due.ts';
import type { CallerKind } from '../matrix.ts';
import { accountDoor, adminDoor, itemsAt, refusalOf, together } from '../send-requests.ts';
import type { Caller } from '../world.ts';

/** Requests (REQUEST-16): who sees which queue, and who decides which request. */

const ACCESS = 'content.access.request';
const RESTORE = 'content.restore.request';

type Target = (
  | { kind: 'asset'; cell: AssetCell }
  | { kind: 'post'; cell: PostCell }
  | { kind: 'collection'; cell: CollectionCell }
) & {
  /** The account that deleted it, if it is not a kind of caller. */
  deleter?: 'share.grant';
};

export interface Ask {
  id: string;
  by: string;
  target: Target;
  capability: string;
  state: ResourceRequest['state'];
  decidedBy: string | null;
}

const refOf = ({ callers }: About, name: string) =>
  must(callers.find((caller) => caller.name === name)?.ref, `account of ${name}`);

/** Assets of the owner, of others and without owner, live, unreadable and deleted; deleted posts and collections. */
function targets({ world }: About): Target[] {
  const { assets, posts, collections } = world;
  const first = <T>(all: readonly T[], which: (one: T) => boolean) => must(all.find(which), 'such a thing');
  const live = first(
    assets,
    ({ team, owner, deleted, status }) =>
      team === 'none' && owner === 'owner' && !deleted && status === 'active',
  );
  const hiddenFromAll = first(
    assets,
    ({ owner, deleted, status, sensitivity }) =>
      owner === 'owner' && !deleted && status === 'draft' && sensitivity === 'restricted',
  );
  const withheld = first(
    assets,
    ({ owner, deleted, status, sensitivity, processing }) =>
      owner === 'owner' &&
      !deleted &&
      status === 'active' &&
      sensitivity === 'restricted' &&
      processing === 'ready',
  );
  const ofOther = first(assets, ({ owner, deleted }) => owner === 'hidden' && !deleted);
  const ofNobody = first(assets, ({ owner, deleted }) => owner === 'nobody' && !deleted);
  const assetBy = (who: CallerKind | null) =>
    first(assets, ({ deleted, deletedBy }) => deleted && deletedBy === who);
  const postBy = (who: CallerKind | null) =>
    first(posts, ({ deleted, deletedBy }) => deleted && deletedBy === who);
  const another = must(posts.filter(({ deleted, deletedBy }) => deleted && deletedBy === null)[1], 'post');
  const shelves = collections.filter(({ deleted }) => deleted);
  const livePost = first(
    posts,
    ({ deleted, draft, visibility }) => !deleted && !draft && visibility === 'followers',
  );
  const liveShelf = first(
    collections,
    ({ deleted, visibility, expired }) => !deleted && !expired && visibility === 'private',
  );
  return [
    ...[live, hiddenFromAll, withheld, ofOther, ofNobody].map((cell): Target => ({ kind: 'asset', cell })),
    ...([null, 'owner', 'assets.admin', 'stranger'] as const).map(
      (by): Target => ({ kind: 'asset', cell: assetBy(by) }),
    ),
    ...([null, 'author', 'posts.admin', 'stranger'] as const).map(
      (by): Target => ({ kind: 'post', cell: postBy(by) }),
    ),
    ...shelves.map((cell): Target => ({ kind: 'collection', cell })),
    { kind: 'post', cell: another, deleter: 'share.grant' },
    // Restored meanwhile, so there is no deletion to undo.
    { kind: 'post', cell: livePost },
    { kind: 'collection', cell: liveShelf },
  ];
}

const requesters = ['commenter', 'stranger', 'owner', 'author', 'share.grant', 'system.admin'] as const;
const states = ['pending', 'granted', 'denied', 'expired'] as const;

/** Requests of every kind for each of these objects, by several accounts, in every state. */
export async function addRequests(about: About): Promise<Ask[]> {
  const asks: Ask[] = [];
  for (const target of targets(about)) {
    const codes = target.kind === 'asset' ? [ACCESS, 'teams.write', RESTORE] : [RESTORE];
    for (const capability of codes) {
      for (const by of requesters)
        asks.push({ id: randomUUID(), by, target, capability, state: 'pending', decidedBy: null });
      const state = must(states[1 + (asks.length % 3)], 'state');
      const decidedBy = state === 'expired' ? null : 'follower';
      asks.push({ id: randomUUID(), by: 'commenter', target, capability, state, decidedBy });
    }
  }
  await about.world.library.deps.db
    .insertInto('resource_requests')
    .values(
      asks.map(({ id, by, target, capability, state, decidedBy }, age) => ({
        id,
        requester_user_ref: refOf(about, by),
        target_kind: target.kind,
        target_id: target.cell.id,
        requested_capability: capability,
        state,
        requested_at: new Date(Date.UTC(2026, 0, 3) - age * 1000).toISOString(),
        decided_by_user_ref: decidedBy === null ? null : refOf(about, decidedBy),
      })),
    )
    .execute();
  await markDeleters(about, asks);
  return asks;
}

/** A deletion that was undone gives no right to decide; holders of share.grant decide about their own deletions. */
async function markDeleters(about: About, asks: readonly Ask[]): Promise<void> {
  const { db } = about.world.library.deps;
  for (const { target } of asks) {
    const { kind, cell } = target;
    if (cell.deleted && target.deleter === undefined) continue;
    const change = { deleted_by_user_ref: refOf(about, target.deleter ?? 'stranger') };
    if (kind === 'post') await db.updateTable('posts').set(change).where('id', '=', cell.id).execute();
    else if (kind === 'asset') await db.updateTable('assets').set(change).where('id', '=', cell.id).execute();
    else await db.updateTable('collections').set(change).where('id', '=', cell.id).execute();
  }
}

const isMine = (about: About, caller: Caller, { by }: Ask) => refOf(about, by) === caller.ref;
const owns = (caller: Caller, { target }: Ask) =>
  target.kind === 'asset' && target.cell.owner === 'owner' && caller.kind === 'owner';
function deleted(about: About, caller: Caller, { target: { cell, deleter } }: Ask): boolean {
  if (deleter !== undefined) return caller.name === deleter;
  return cell.deleted && cell.deletedBy !== null && about.world.refOf(cell.deletedBy) === caller.ref;
}
const grants = ({ name }: Caller) => name === 'share.grant' || name === 'system.admin';

/** REQUEST-6, REQUEST-8; only system.admin decides their own requests. */
export function decides(about: About, caller: Caller, ask: Ask): boolean {
  if (caller.name === 'system.admin') return true;
  if (isMine(about, caller, ask)) return false;
  if (ask.capability === RESTORE) return deleted(about, caller, ask);
  return grants(caller) || (ask.capability === ACCESS && owns(caller, ask));
}

/** REQUEST-16. */
function isIncoming(about: About, caller: Caller, ask: Ask): boolean {
  if (isMine(about, caller, ask)) return false;
  return ask.capability === RESTORE ? deleted(about, caller, ask) : owns(caller, ask);
}

/** Not while impersonating, nor with a token without the scope. */
const mayDecideNow = ({ name, scopes }: Caller) =>
  !name.startsWith('impersonator') && (scopes === null || scopes.includes('admin'));

export async function lookAtRequests(about: About, asks: readonly Ask[]) {
  const { ledger, callers } = about;
  const queues: [string, (caller: Caller, ask: Ask) => boolean][] = [
    ['/account/requests', (caller, ask) => isMine(about, caller, ask)],
    ['/account/requests/incoming', (caller, ask) => isIncoming(about, caller, ask)],
    ['/admin/requests', () => true],
  ];
  await together(callers, async (caller) => {
    for (const [path, rule] of queues) {
      const { status } = await caller.visitor.send(`${path}?limit=1`);
      const isClosed = path === '/admin/requests' && !grants(caller);
      const refusal = refusalOf(caller, accountDoor);
      const due = refusal ?? (isClosed ? 403 : 200);
      ledger.hold(`${caller.name}: ${path}: status`, status, due);
      if (status !== 200) continue;
      const items = await itemsAt<ResourceRequest>(caller.visitor, path);
      const shown = new Map(items.map(({ id, decidable_by_caller }) => [id, decidable_by_caller]));
      for (const ask of asks) {
        const label = () => `${caller.name}: ${path}: ${labelOfAsk(ask)}`;
        const flag = ask.state === 'pending' && mayDecideNow(caller) && decides(about, caller, ask);
        const got = shown.has(ask.id) ? shown.get(ask.id) : 'absent';
        ledger.hold(label, got, rule(caller, ask) ? flag : 'absent');
      }
      const count = asks.filter((ask) => rule(caller, ask)).length;
      ledger.hold(`${caller.name}: ${path}: how many`, shown.size, count);
    }
  });
}

function labelOfAsk({ by, target: { kind, cell }, capability, state }: Ask): string {
  const what = cell.deleted ? `${kind} deleted by ${cell.deletedBy}` : `live ${kind}`;
  return `${state} ${capability} of ${by} for a ${what}`;
}

/** A grant that ends in the past is refused to callers who may decide, so that the probe decides nothing. */
const ended = { decision: 'denied', expires_at: '2026-01-01T00:00:00Z' };

export async function tryToDecide(about: About, asks: readonly Ask[]) {
  const { ledger, callers } = about;
  await together(callers, async (caller) => {
    const turn = callers.indexOf(caller);
    const door = refusalOf(caller, adminDoor);
    const refusal = door ?? (mayDecideNow(caller) ? null : 403);
    const isDecider = asks.some((ask) => decides(about, caller, ask) || caller.name === ask.decidedBy);
    // A fifth of all for callers who may decide something, fewer for all others.
    const asked = asks.filter((_, index) => (index + turn) % (isDecider ? 5 : 37) === 0);
    const decide = (id: string) => caller.visitor.status('POST', `/admin/requests/${id}/decide`, ended);
    for (const ask of asked) {
      const knows = decides(about, caller, ask) || caller.name === ask.decidedBy;
      const due = refusal ?? (knows ? (ask.state === 'pending' ? 400 : 409) : 403);
      ledger.hold(`${caller.name}: decide ${labelOfAsk(ask)}`, await decide(ask.id), due);
    }
    const due = refusal ?? (grants(caller) ? 404 : 403);
    ledger.hold(`${caller.name}: decide what nobody asked`, await decide(randomUUID()), due);
  });
}

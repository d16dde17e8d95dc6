import type { InboxContext, InboxListenerSetters } from '@fedify/fedify';
import {
  Accept,
  type Activity,
  Announce,
  type Object as APObject,
  Delete,
  Follow,
  Like,
  Reject,
  Undo,
} from '@fedify/fedify/vocab';
import { sql } from 'kysely';
import { followableActor, followablePost } from '../../access/activitypub.ts';
import type { Deps } from '../../core/deps.ts';
import { DatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { checkOutboundAddress } from '../federation/outbound.ts';
import { actorUri, parseActor, parseNote } from './addresses.ts';
import { queueActivityFor } from './deliveries.ts';
import type { ActivityPubSite } from './site.ts';

/** The longest address that is stored. */
const MOST_CHARACTERS = 500;
/** The most followers of an account; more are not accepted. */
const MOST_FOLLOWERS = 100_000;

/** The state of one request: a database error, after which the sender should retry. */
export interface Processing {
  unavailable: DatabaseUnavailable | null;
}

type Ctx = InboxContext<Processing>;

/** Returns the address if it can be stored and requests may go to it. */
function usable(deps: Deps, uri: URL | null | undefined): string | null {
  if (uri == null || uri.href.length > MOST_CHARACTERS) return null;
  return checkOutboundAddress(deps, uri.href) ? uri.href : null;
}

/**
 * Loads the objects that activities refer to with our guarded loaders, never with those of the protocol
 * library.
 */
function guarded({ documentLoader, contextLoader }: Ctx) {
  return { documentLoader, contextLoader, suppressError: true } as const;
}

/** Returns a follower and its inbox from the document of the person; null if the document is invalid. */
async function followerOf(ctx: Ctx, deps: Deps, activity: Activity) {
  const actor = await activity.getActor(guarded(ctx));
  const uri = usable(deps, activity.actorId);
  if (actor === null || uri === null || actor.id?.href !== uri) return null;
  const inbox = usable(deps, actor.endpoints?.sharedInbox ?? actor.inboxId);
  // Otherwise, anyone could have posts sent to an inbox of another host.
  return inbox === null || new URL(inbox).host !== new URL(uri).host ? null : { uri, inbox };
}

/** Stores a follower and accepts, in one transaction; a repeated Follow is accepted again (AP-12). */
async function follow(ctx: Ctx, deps: Deps, site: ActivityPubSite, activity: Follow): Promise<void> {
  const actorId = parseActor(site.url, activity.objectId?.href ?? '');
  const follower = actorId === null ? null : await followerOf(ctx, deps, activity);
  if (actorId === null || follower === null) return;
  const actor = actorUri(site.url, actorId);
  await deps.db.transaction().execute(async (tx) => {
    // The lock makes the end of an actor wait, so that it reaches this follower, too.
    const { rows } = await sql<{ followers: number }>`select
        (select count(*) from activitypub_followers f where f.actor_id = ap.id)::int as followers
      from activitypub_actors ap join users u on u.ref = ap.user_ref
      where ap.id = ${actorId} and ${followableActor} for share of ap`.execute(tx);
    const [row] = rows;
    if (row === undefined || row.followers >= MOST_FOLLOWERS) return;
    await tx
      .insertInto('activitypub_followers')
      .values({
        actor_id: actorId,
        uri: follower.uri,
        inbox: follower.inbox,
        activity_uri: usable(deps, activity.id),
      })
      .onConflict((conflict) =>
        conflict.columns(['actor_id', 'uri']).doUpdateSet((eb) => ({
          inbox: eb.ref('excluded.inbox'),
          activity_uri: eb.ref('excluded.activity_uri'),
        })),
      )
      .execute();
    await queueActivityFor(tx, actorId, follower.inbox, {
      id: `${actor}#accept-${crypto.randomUUID()}`,
      type: 'Accept',
      actor,
      to: [follower.uri],
      object: { id: activity.id?.href, type: 'Follow', actor: follower.uri, object: actor },
    });
  });
}

/** Counts a like or a boost of a public post. It belongs to no account of this library (AP-13). */
async function react(
  deps: Deps,
  site: ActivityPubSite,
  kind: 'like' | 'boost',
  activity: Like | Announce,
): Promise<void> {
  const note = parseNote(site.url, activity.objectId?.href ?? '');
  const [uri, id] = [usable(deps, activity.actorId), usable(deps, activity.id)];
  if (note === null || uri === null || id === null) return;
  await sql`insert into activitypub_reactions (actor_id, post_id, uri, kind, activity_uri)
    select ap.id, p.id, ${uri}, ${kind}, ${id}
    from posts p join users u on u.ref = p.author_user_ref join activitypub_actors ap on ap.user_ref = u.ref
    where ap.id = ${note.actorId} and p.id = ${note.postId} and ${followableActor} and ${followablePost}
    on conflict (actor_id, post_id, uri, kind) do update set activity_uri = excluded.activity_uri`.execute(
    deps.db,
  );
}

/** Removes what the sender did with this activity, and returns whether there was anything. */
async function undoById({ db }: Deps, uri: string, activity: string): Promise<boolean> {
  const { rows } = await sql`with
      followers as (delete from activitypub_followers where uri = ${uri} and activity_uri = ${activity} returning 1),
      reactions as (delete from activitypub_reactions where uri = ${uri} and activity_uri = ${activity} returning 1)
    select from followers union all select from reactions`.execute(db);
  return rows.length > 0;
}

/** Undoes what the undone activity says, and returns whether it names something that can be undone. */
async function undoByContent(
  { db }: Deps,
  site: ActivityPubSite,
  uri: string,
  undone: APObject | null,
): Promise<boolean> {
  if (undone instanceof Follow) {
    const actorId = parseActor(site.url, undone.objectId?.href ?? '');
    if (actorId === null || undone.actorId?.href !== uri) return false;
    await db
      .deleteFrom('activitypub_followers')
      .where('actor_id', '=', actorId)
      .where('uri', '=', uri)
      .execute();
    return true;
  }
  if (undone instanceof Like || undone instanceof Announce) {
    const note = parseNote(site.url, undone.objectId?.href ?? '');
    if (note === null) return false;
    const kind = undone instanceof Like ? 'like' : 'boost';
    await db
      .deleteFrom('activitypub_reactions')
      .where('actor_id', '=', note.actorId)
      .where('post_id', '=', note.postId)
      .where('uri', '=', uri)
      .where('kind', '=', kind)
      .execute();
    return true;
  }
  return false;
}

/**
 * Undoes a follow, like or boost of the sender (AP-14). It may be given as a whole or by its id alone, and is fetched
 * only if the id is unknown.
 */
async function undo(ctx: Ctx, deps: Deps, site: ActivityPubSite, activity: Undo): Promise<void> {
  const [uri, id] = [activity.actorId?.href, activity.objectId?.href];
  if (uri === undefined) return;
  const fetchNothing = { ...guarded(ctx), documentLoader: () => Promise.reject(new Error('not fetched')) };
  if (await undoByContent(deps, site, uri, await activity.getObject(fetchNothing))) return;
  if (id !== undefined && (await undoById(deps, uri, id))) return;
  await undoByContent(deps, site, uri, await activity.getObject(guarded(ctx)));
}

/** Removes a deleted follower or a deleted boost (AP-14). */
async function remove(deps: Deps, activity: Delete): Promise<void> {
  const uri = activity.actorId?.href;
  const object = activity.objectId?.href;
  if (uri === undefined || object === undefined) return;
  await deps.db.transaction().execute(async (tx) => {
    await sql`delete from activitypub_reactions
      where uri = ${uri} and (${object === uri} or activity_uri = ${object})`.execute(tx);
    if (object === uri) await tx.deleteFrom('activitypub_followers').where('uri', '=', uri).execute();
  });
}

/**
 * Handles incoming activities. Replies and unknown activities are accepted without effect, since strangers
 * cannot write to the library (AP-15).
 */
export function listen(listeners: InboxListenerSetters<Processing>, deps: Deps, site: ActivityPubSite): void {
  const ignore = async () => {};
  listeners
    .on(Follow, (ctx, activity) => follow(ctx, deps, site, activity))
    .on(Like, (_, activity) => react(deps, site, 'like', activity))
    .on(Announce, (_, activity) => react(deps, site, 'boost', activity))
    .on(Undo, (ctx, activity) => undo(ctx, deps, site, activity))
    .on(Delete, (_, activity) => remove(deps, activity))
    .on(Accept, ignore)
    .on(Reject, ignore)
    .onError(({ data }, error) => {
      if (error instanceof DatabaseUnavailable) data.unavailable = error;
    });
}

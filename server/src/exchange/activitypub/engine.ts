import { createFederation, type Federation } from '@fedify/fedify';
import { Create, Endpoints, Image, Note, Person, PropertyValue, Tombstone } from '@fedify/fedify/vocab';
import { sql } from 'kysely';
import { followableActor, followablePost } from '../../access/activitypub.ts';
import { profilePath } from '../../content/public/page.ts';
import type { Deps } from '../../core/deps.ts';
import { escapeHtml } from '../../platform/escape-html.ts';
import { readVersion } from '../../platform/version.ts';
import { type ActorRow, findActor, findActorNamed, isWithdrawn, readKeys } from './actors.ts';
import { uuidPattern } from './addresses.ts';
import { listen, type Processing } from './inbox.ts';
import { openLoader, openSignedLoader } from './loaders.ts';
import { openMemory } from './memory.ts';
import { createOf, noteContext, noteOf, paragraphs, readNotes } from './notes.ts';
import type { ActivityPubSite } from './site.ts';

/** Posts on a page of an outbox. */
const PAGE = 20;

/** The tolerated age of a signature: the activity may have waited in the sender's queue. */
const signatureTimeWindow = { hours: 1 };

async function countPosts({ db }: Deps, actorId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count
    from posts p join users u on u.ref = p.author_user_ref join activitypub_actors ap on ap.user_ref = u.ref
    where ap.id = ${actorId} and ${followableActor} and ${followablePost}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Returns the position that a cursor names, or null for a foreign one. */
function readCursor(cursor: string): { at: string; id: string } | null {
  const [at = '', id = ''] = cursor.split('_');
  return uuidPattern.test(id) && !Number.isNaN(Date.parse(at)) ? { at, id } : null;
}

/**
 * Creates the handler of requests from other systems. It is large, so it is loaded on the first request
 * (AP-1).
 */
export function openEngine(deps: Deps, site: ActivityPubSite): Federation<Processing> {
  const { db } = deps;
  const loader = openLoader(deps);
  const federation = createFederation<Processing>({
    kv: openMemory(db),
    origin: site.url,
    firstKnock: 'draft-cavage-http-signatures-12',
    documentLoaderFactory: () => loader,
    contextLoaderFactory: () => loader,
    authenticatedDocumentLoaderFactory: openSignedLoader(deps),
    signatureTimeWindow,
    circuitBreaker: false,
  });
  const known = async (id: string): Promise<ActorRow | null> =>
    uuidPattern.test(id) ? findActor(db, id) : null;

  federation
    .setActorDispatcher('/ap/users/{identifier}', async (ctx, id) => {
      const row = await known(id);
      if (row === null) {
        const gone = uuidPattern.test(id) && (await isWithdrawn(db, id));
        return gone ? new Tombstone({ id: ctx.getActorUri(id) }) : null;
      }
      const [key] = await ctx.getActorKeyPairs(id);
      const page = new URL(profilePath(row.username), site.url);
      return new Person({
        id: ctx.getActorUri(id),
        preferredUsername: row.username,
        name: row.name,
        summary: paragraphs(row.bio),
        url: page,
        inbox: ctx.getInboxUri(id),
        outbox: ctx.getOutboxUri(id),
        followers: ctx.getFollowersUri(id),
        endpoints: new Endpoints({ sharedInbox: ctx.getInboxUri() }),
        manuallyApprovesFollowers: false,
        discoverable: true,
        ...(key !== undefined && { publicKey: key.cryptographicKey }),
        ...(row.avatar !== null && {
          icon: new Image({
            mediaType: row.avatar.type,
            url: new URL(`/api/v1/assets/${row.avatar.asset_id}/variants/col`, site.url),
          }),
        }),
        attachments: [new PropertyValue({ name: site.name, value: escapeHtml(page.href) })],
      });
    })
    .mapHandle(async (_, username) =>
      username.includes('\0') ? null : ((await findActorNamed(db, username))?.id ?? null),
    )
    .setKeyPairsDispatcher(async (_, id) => {
      const keys = uuidPattern.test(id) ? await readKeys(deps, id) : null;
      return keys === null ? [] : [keys];
    });

  federation.setObjectDispatcher(Note, '/ap/users/{identifier}/posts/{post}', async (ctx, values) => {
    const { identifier, post } = values;
    if (!uuidPattern.test(identifier) || !uuidPattern.test(post)) return null;
    const [row] = await readNotes(db, sql`p.id = ${post} and ap.id = ${identifier}`);
    if (row === undefined || row.pending) return null;
    return Note.fromJsonLd({ '@context': noteContext, ...noteOf(site, row) }, ctx);
  });

  federation
    .setOutboxDispatcher('/ap/users/{identifier}/outbox', async (ctx, id, cursor) => {
      if ((await known(id)) === null || cursor === null) return null;
      const before = cursor === 'first' ? null : readCursor(cursor);
      if (cursor !== 'first' && before === null) return null;
      const after =
        before === null
          ? sql`true`
          : sql`(p.posted_at, p.id) < (${before.at}::timestamptz, ${before.id}::uuid)`;
      const rows = await readNotes(
        db,
        sql`ap.id = ${id} and ${after} order by p.posted_at desc, p.id desc limit ${PAGE + 1}`,
      );
      const page = rows.slice(0, PAGE);
      const last = page.at(-1);
      const items = await Promise.all(
        page
          .filter(({ pending }) => !pending)
          .map((row) => Create.fromJsonLd({ '@context': noteContext, ...createOf(noteOf(site, row)) }, ctx)),
      );
      const nextCursor = rows.length > PAGE && last !== undefined ? `${last.posted_at}_${last.id}` : null;
      return { items, nextCursor };
    })
    .setCounter((_, id) => (uuidPattern.test(id) ? countPosts(deps, id) : 0))
    .setFirstCursor(async (_, id) => ((await known(id)) === null ? null : 'first'));

  // Only the number of followers is public, not their identities.
  federation
    .setFollowersDispatcher('/ap/users/{identifier}/followers', async (_, id) =>
      (await known(id)) === null ? null : { items: [] },
    )
    .setCounter(async (_, id) => {
      if (!uuidPattern.test(id)) return 0;
      const { rows } = await sql<{ count: number }>`select count(*)::int as count
        from activitypub_followers where actor_id = ${id}`.execute(db);
      return rows[0]?.count ?? 0;
    });

  federation.setNodeInfoDispatcher('/ap/nodeinfo/2.1', async () => {
    const { rows } = await sql<{ accounts: number; posts: number }>`select
      (select count(*) from activitypub_actors ap join users u on u.ref = ap.user_ref where ${followableActor})::int as accounts,
      (select count(*) from posts p join users u on u.ref = p.author_user_ref
        join activitypub_actors ap on ap.user_ref = u.ref
        where ${followableActor} and ${followablePost})::int as posts`.execute(db);
    return {
      software: { name: 'vitrine', version: readVersion() },
      protocols: ['activitypub'],
      openRegistrations: false,
      usage: { users: { total: rows[0]?.accounts ?? 0 }, localPosts: rows[0]?.posts ?? 0, localComments: 0 },
    };
  });

  listen(federation.setInboxListeners('/ap/users/{identifier}/inbox', '/ap/inbox'), deps, site);
  return federation;
}

import { sql } from 'kysely';
import { type PeerCaller, teamsGivenTo } from '../../access/federation.ts';
import type { Deps } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import { isAnnounced } from './announced.ts';
import type { Install } from './identity.ts';
import { readActorKeys } from './keys.ts';
import { actorUri, objectUri } from './protocol/addresses.ts';
import { assetAlone, collectionObject, postObject, type Rendered, type Writing } from './render-objects.ts';

const PROTOCOL = 'https://artist-alley.org/protocol/v1';

/** The first part of the addresses that are answered, and the kinds of objects that they name. */
export const documentKinds = {
  posts: 'post',
  assets: 'asset',
  collections: 'collection',
  workspaces: 'team',
} as const;
export type DocumentKind = (typeof documentKinds)[keyof typeof documentKinds];

const render: Readonly<
  Record<Exclude<DocumentKind, 'team'>, (writing: Writing, id: string) => Promise<Rendered | null>>
> = { post: postObject, asset: assetAlone, collection: collectionObject };

const owners = {
  post: sql`select author_user_ref as ref from posts`,
  asset: sql`select owner_user_ref as ref from assets`,
  collection: sql`select owner_user_ref as ref from collections`,
};

async function teamDocument(db: Database, install: Install, peer: PeerCaller, id: string) {
  const row = await db
    .selectFrom('teams as t')
    .select(['t.name', 't.slug', 't.description', 't.updated_at as updated'])
    .where('t.id', '=', id)
    .where(teamsGivenTo(peer))
    .executeTakeFirst();
  if (row === undefined) return null;
  return { type: 'aa:Workspace', id: objectUri(install.url, 'workspaces', id), ...row };
}

/** Leaves out what is sent encrypted only: this response is for the library, not for one person. */
function withoutEncrypted({ object }: Rendered): object | null {
  if (Object.hasOwn(object, 'contentKey')) return null;
  const members: unknown = Reflect.get(object, 'members');
  if (!Array.isArray(members)) return object;
  const plain = members.filter((member) => !Object.hasOwn(member, 'contentKey'));
  const shown = { ...object, members: plain, mature: plain.some((member) => member.mature) };
  const cover: unknown = Reflect.get(object, 'cover');
  if (!plain.some((member) => member.id === cover)) Reflect.deleteProperty(shown, 'cover');
  return shown;
}

/**
 * Returns an object of this library as the peer received it, in its present state; null if the peer is not given it, or
 * was not sent it yet (FED-98).
 */
export async function objectDocument(
  deps: Deps,
  install: Install,
  peer: PeerCaller,
  { kind, id }: { kind: DocumentKind; id: string },
): Promise<object | null> {
  const { db, secretKey } = deps;
  if (kind === 'team') {
    const team = await teamDocument(db, install, peer, id);
    return team === null ? null : { '@context': PROTOCOL, ...team };
  }
  if (!(await isAnnounced(db, peer, { kind, id }))) return null;
  const { rows } = await sql<{
    ref: number | null;
  }>`select ref from (${owners[kind]} where id = ${id}) o`.execute(db);
  const ref = rows[0]?.ref ?? null;
  const owner = ref === null ? null : await readActorKeys(deps, ref);
  if (owner === null) return null;
  const writing = { db, secretKey, install, peer, owner: actorUri(install.url, owner.username) };
  const rendered = await render[kind](writing, id);
  const object = rendered === null ? null : withoutEncrypted(rendered);
  return object === null ? null : { '@context': PROTOCOL, ...object };
}

import { type KeyObject, randomUUID } from 'node:crypto';
import type { PeerShareCreate } from '@vitrine/contract/federation';
import { type RawBuilder, sql } from 'kysely';
import { writeSetting } from '../../src/core/settings.ts';
import { type Install as Identity, readInstall } from '../../src/exchange/federation/identity.ts';
import { readActorKeys } from '../../src/exchange/federation/keys.ts';
import { OutboundError, postSigned } from '../../src/exchange/federation/outbound.ts';
import { signEnvelope } from '../../src/exchange/federation/protocol/signature.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

export const PROTOCOL = 'https://artist-alley.org/protocol/v1';

/** A library that takes part in federation, with an administrator. */
export interface Install extends Library {
  root: Account;
}

/** Enough for two jobs that each hold one and ask for another. */
const CONNECTIONS = 3;

/** Opens a library with a public address, so that it can be paired with others on this machine. */
export async function openInstall(name: string, env: Record<string, string> = {}): Promise<Install> {
  const library = await openLibrary(
    { VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on', ...env },
    { connections: CONNECTIONS },
  );
  await writeSetting(library.database.db, 'base_url', library.address);
  await writeSetting(library.database.db, 'site_name', name);
  return { ...library, root: await library.join('root', 'admin') };
}

/**
 * Returns whether an install has a job that is due. Jobs that wait for a worker which ends at this moment are due two seconds
 * later (delivery.ts), and those that failed once less than three; they become due now.
 */
async function hasJobs({ database: { db } }: Install): Promise<boolean> {
  const { rows } = await sql`update graphile_worker._private_jobs set run_at = least(run_at, now())
    where locked_at is null and attempts < max_attempts and run_at < now() + interval '3 seconds'
    returning id`.execute(db);
  return rows.length > 0;
}

/** Runs the jobs of installs until none has anything left to do for the others, at most ten times. */
export async function settle(...installs: readonly Install[]): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    for (const install of installs) await install.runJobs();
    if (!(await Promise.all(installs.map(hasJobs))).includes(true)) return;
  }
}

/** Looks up the offers that an install has received, without the pause between two rounds. */
export async function verifyOffers({ database: { db }, runJobs }: Install): Promise<void> {
  await sql`update graphile_worker._private_jobs set run_at = now() where key = 'verify-offers'`.execute(db);
  await runJobs();
}

/** Pairs two installs as their administrators do, and returns the id that each has for the other. */
export async function pair(one: Install, other: Install) {
  const { id: peerOfOne } = await one.root.ok('addPeer', { body: { address: other.address } });
  await one.root.ok('acceptPeer', { params: { id: peerOfOne } });
  await verifyOffers(other);
  const [offered] = (await other.root.ok('listPeers')).items;
  if (offered === undefined) throw new Error('the offer did not arrive');
  await other.root.ok('acceptPeer', { params: { id: offered.id } });
  return { peerOfOne, peerOfOther: offered.id };
}

/** Opens two installs that are paired, and returns the id that each has for the other. */
export async function openPair() {
  const [harbour, studio] = [await openInstall('Harbour'), await openInstall('Studio')];
  return { harbour, studio, ...(await pair(harbour, studio)) };
}

/** Returns the identity with which an install signs its requests to peers. */
export async function identityOf(install: Install): Promise<Identity> {
  const own = await readInstall(install.deps);
  if (own === null) throw new Error('the install has no address');
  return own;
}

/** Returns the reason with which an install refuses an envelope. */
export async function reasonOf(sending: Promise<unknown>): Promise<string | null> {
  const error = await sending.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OutboundError)) throw new Error('it was not refused', { cause: error });
  return error.reason;
}

/** Returns the private key with which an account signs its envelopes. */
export async function signingKeyOf({ deps }: Install, { ref }: Pick<Account, 'ref'>) {
  const keys = await readActorKeys(deps, ref);
  if (keys === null) throw new Error('the account has no keys');
  return keys.signingPrivate;
}

/** Returns an envelope with this body that an account of an install signs. */
export async function envelopeOf(install: Install, author: Account, body: object) {
  const actor = `${install.address}/users/${author.username}`;
  return signAs(install.address, actor, await signingKeyOf(install, author), body);
}

/** Returns an envelope with this body that an actor of an install at this address signs with this key. */
export function signAs(address: string, actor: string, key: KeyObject, body: object) {
  const id = `${address}/activities/${randomUUID()}`;
  const envelope = { '@context': PROTOCOL, id, actor, published: new Date().toISOString(), ...body };
  return signEnvelope(envelope, `${actor}#main-key`, key);
}

/** Returns a comment on a post, as a person of an install at this address sends it. */
export function noteOf(
  { address }: Pick<Install, 'address'>,
  { username }: Pick<Account, 'username'>,
  inReplyTo: string,
  more: object = {},
) {
  const now = new Date().toISOString();
  return {
    type: 'Note',
    id: `${address}/posts/${randomUUID()}#comment-${randomUUID()}`,
    attributedTo: `${address}/users/${username}`,
    attributedToName: username,
    content: 'Written by other code',
    inReplyTo,
    published: now,
    updated: now,
    ...more,
  };
}

/** Sends JSON to a path of federation, signed by the sending install. */
export async function send(
  from: Install,
  to: Pick<Install, 'address'>,
  body: object,
  path = 'inbox',
): Promise<unknown> {
  return postSigned(from.deps, await identityOf(from), `${to.address}/federation/${path}`, body);
}

/** Shares a new post of this account, with one file that is not rendered. */
export async function sharePost(author: Visitor, peer_id: string, title: string, body: PeerShareCreate = {}) {
  const asset = await upload(author, plainFile(title), { sensitivity: 'posts', title }, `${title}.bin`);
  const post = await publish(author, [asset], { title });
  await author.ok('putPostPeer', { params: { id: post.id, peer_id }, body });
  return { id: post.id, asset };
}

/** Returns the titles of the posts that an account sees, in alphabetical order. */
export const titlesOf = async (account: Visitor) =>
  (await account.ok('listPosts')).items.map(({ title }) => title).toSorted();

/** Returns the post of this title that an account sees. */
export async function postOf(account: Visitor, title: string) {
  const found = (await account.ok('listPosts')).items.find((post) => post.title === title);
  if (found === undefined) throw new Error(`${title} is not here`);
  return found;
}

/** Returns the id of the first file of the post of this title. */
export async function memberOf(account: Visitor, title: string): Promise<string> {
  return (await postOf(account, title)).members[0]?.asset_id ?? '';
}

/** Returns the reasons of all refused envelopes and requests, the latest first. */
export const rejectionsAt = async ({ root }: Install) =>
  (await root.ok('listFederationRejections')).items.map(({ reason }) => reason);

/** Makes due at once what waits for its next attempt. */
export async function skipPauses({ database: { db } }: Install): Promise<void> {
  await sql`update federation_outbox set next_attempt_at = now()`.execute(db);
  await sql`update graphile_worker._private_jobs set run_at = now() where locked_at is null`.execute(db);
}

/** Runs the job that cleans up every five minutes. */
export async function keepFederation({ database: { db }, runJobs }: Install): Promise<void> {
  await sql`select graphile_worker.add_job('keep-federation', '{}')`.execute(db);
  await runJobs();
}

/** Returns the rows of a statement in the database of an install. */
export const rowsOf = async <T>({ database: { db } }: Install, statement: RawBuilder<T>) =>
  (await statement.execute(db)).rows;

/** Returns the number of keys of an install's stored objects that begin with this prefix. */
export async function countObjects({ deps }: Install, prefix: string): Promise<number> {
  let count = 0;
  for await (const _ of deps.storage.list(prefix)) count += 1;
  return count;
}

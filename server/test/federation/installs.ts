import { type Install as Identity, readInstall } from '../../src/federation/identity.ts';
import { OutboundError } from '../../src/federation/outbound.ts';
import { writeSetting } from '../../src/settings.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

/** A library that takes part in federation, with an administrator. */
export interface Install extends Library {
  root: Account;
}

/** Opens a library with a public address, so that it can be paired with others on this machine. */
export async function openInstall(name: string, env: Record<string, string> = {}): Promise<Install> {
  const library = await openLibrary({ VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on', ...env });
  await writeSetting(library.database.db, 'base_url', library.address);
  await writeSetting(library.database.db, 'site_name', name);
  return { ...library, root: await library.join('root', 'admin') };
}

/** Runs the jobs of both installs until neither has anything left to do for the other. */
export async function settle(...installs: readonly Install[]): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    for (const install of installs) await install.runJobs();
  }
}

/** Pairs two installs as their administrators do, and returns the id that each has for the other. */
export async function pair(
  one: Install,
  other: Install,
): Promise<{ peerOfOne: string; peerOfOther: string }> {
  const { id: peerOfOne } = await one.root.ok('addPeer', { body: { address: other.address } });
  await one.root.ok('acceptPeer', { params: { id: peerOfOne } });
  const [offered] = (await other.root.ok('listPeers')).items;
  if (offered === undefined) throw new Error('the offer did not arrive');
  await other.root.ok('acceptPeer', { params: { id: offered.id } });
  return { peerOfOne, peerOfOther: offered.id };
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

import { sql } from 'kysely';
import { administers } from '../../../access/accounts.ts';
import type { Deps } from '../../../core/deps.ts';
import { enqueue, type JobHandler, type Jobs } from '../../../core/job-table.ts';
import { GIVE_UP_AFTER_MS, pauseAfter } from '../delivery.ts';
import { freshActivityUri } from '../fields/send.ts';
import { type Install, readInstall } from '../identity.ts';
import { type ActorKeys, readActorKeys } from '../keys.ts';
import { OutboundError, postSigned } from '../outbound.ts';
import { actorUri } from '../protocol/addresses.ts';
import { PROTOCOL } from '../protocol/envelope.ts';
import { signEnvelope } from '../protocol/signature.ts';
import { announceKey, isTemporaryFailure } from './rotate.ts';

type Unshare = NonNullable<Jobs['unpair']['unshares']>[number];

/** Sends a request, and once more if the peer still expects a former key. */
async function sendWithKnownKey(
  deps: Deps,
  install: Install,
  url: string,
  send: () => Promise<unknown>,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof OutboundError) || error.reason !== 'sig_invalid') throw error;
    await announceKey(deps, install, url);
    await send();
  }
}

/** Returns the keys of the account that granted a share, or of an administrator if the account is gone. */
async function signerOf(deps: Deps, grantedBy: number | null): Promise<ActorKeys | null> {
  const { rows } = await sql<{ ref: number }>`select u.ref from users u
    where u.ref = ${grantedBy} or (${administers}) order by u.ref = ${grantedBy} desc nulls last, u.ref limit 1`.execute(
    deps.db,
  );
  return rows[0] === undefined ? null : readActorKeys(deps, rows[0].ref);
}

async function sendUnshare(deps: Deps, install: Install, url: string, unshare: Unshare): Promise<void> {
  const signer = await signerOf(deps, unshare.grantedBy);
  if (signer === null) return;
  const actor = actorUri(install.url, signer.username);
  const envelope = {
    '@context': PROTOCOL,
    id: freshActivityUri(install.url),
    actor,
    published: new Date().toISOString(),
    type: 'aa:Unshare',
    ...unshare.details,
  };
  const signed = signEnvelope(envelope, `${actor}#main-key`, signer.signingPrivate);
  await sendWithKnownKey(deps, install, url, () =>
    postSigned(deps, install, `${url}/federation/inbox`, signed),
  );
}

/** Announces the end of shares in order, and removes each that is settled from the list. Throws what to retry. */
async function sendUnshares(deps: Deps, install: Install, url: string, unshares: Unshare[]): Promise<void> {
  for (let next = unshares[0]; next !== undefined; next = unshares[0]) {
    try {
      await sendUnshare(deps, install, url, next);
    } catch (error) {
      // A refusal is final, and the end of the pairing covers the share, too.
      if (!(error instanceof OutboundError) || isTemporaryFailure(error)) throw error;
    }
    unshares.shift();
  }
}

/**
 * Notifies an install that all shares and then the pairing have ended, for up to three days (FED-14). Stops if the install was paired again
 * meanwhile, because the notice would end the new pairing.
 */
export function unpairJob(deps: Deps): JobHandler<'unpair'> {
  return async ({ url, since = new Date().toISOString(), attempts = 0, unshares = [] }) => {
    const { db } = deps;
    const install = await readInstall(deps);
    if (install === null) return;
    const rows = await db.selectFrom('federation_peers').where('instance_url', '=', url).execute();
    if (rows.length > 0) return;
    const left = [...unshares];
    try {
      await sendUnshares(deps, install, url, left);
      await sendWithKnownKey(deps, install, url, () =>
        postSigned(deps, install, `${url}/federation/peers/unpair`, '{}'),
      );
    } catch (error) {
      // The peer has already ended the pairing.
      if (!(error instanceof OutboundError)) throw error;
      if (error.status === 403 || error.status === 404) return;
      if (Date.now() - Date.parse(since) > GIVE_UP_AFTER_MS) return;
      const runAt = new Date(Date.now() + pauseAfter(attempts)).toISOString();
      const rest = { url, since, attempts: attempts + 1, unshares: left };
      await enqueue(db, 'unpair', rest, { key: `unpair:${url}`, runAt });
    }
  };
}

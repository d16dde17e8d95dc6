import { sql } from 'kysely';
import type { Deps } from '../../deps.ts';
import { enqueue, type JobHandler } from '../../job-table.ts';
import { GIVE_UP_AFTER_MS, pauseAfter } from '../delivery.ts';
import { type Install, readInstall } from '../identity.ts';
import { OutboundError, postSigned } from '../outbound.ts';
import { announceKey } from './rotate.ts';

async function sendUnpair(deps: Deps, install: Install, url: string): Promise<void> {
  const send = () => postSigned(deps, install, `${url}/federation/peers/unpair`, '{}');
  try {
    await send();
  } catch (error) {
    if (!(error instanceof OutboundError) || error.reason !== 'sig_invalid') throw error;
    // The peer may still expect a former key.
    await announceKey(deps, install, url);
    await send();
  }
}

/**
 * Notifies an install that the pairing has ended, for up to three days (FED-14). Stops if the install was paired again
 * meanwhile, because the notice would end the new pairing.
 */
export function unpairJob(deps: Deps): JobHandler<'unpair'> {
  return async ({ url, since = new Date().toISOString(), attempts = 0 }) => {
    const { db } = deps;
    const install = await readInstall(deps);
    if (install === null) return;
    const { rows } = await sql`select from federation_peers where instance_url = ${url}`.execute(db);
    if (rows.length > 0) return;
    try {
      await sendUnpair(deps, install, url);
    } catch (error) {
      // The peer has already ended the pairing.
      if (!(error instanceof OutboundError)) throw error;
      if (error.status === 403 || error.status === 404) return;
      if (Date.now() - Date.parse(since) > GIVE_UP_AFTER_MS) return;
      const runAt = new Date(Date.now() + pauseAfter(attempts)).toISOString();
      await enqueue(db, 'unpair', { url, since, attempts: attempts + 1 }, { key: `unpair:${url}`, runAt });
    }
  };
}

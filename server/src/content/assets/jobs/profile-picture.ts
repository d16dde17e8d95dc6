import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { takesClaimedPicture } from '../../../access/accounts.ts';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { keysOf } from '../../../media/ladder.ts';
import { checkQuota } from '../../../people/quotas/check.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { guardedFetch, OutboundFailure } from '../../../platform/http/guarded-fetch.ts';
import { Refusal } from '../../../platform/http/refuse.ts';
import { insertAsset, stageFile, storeFile } from '../insert.ts';
import { discard, type Received, receive } from '../receive.ts';

type PictureDeps = Pick<Deps, 'db' | 'storage' | 'ladder' | 'config' | 'log'>;

/** SSO-61. */
const MOST_BYTES = 5 * 1024 ** 2;
const TIMEOUT_MS = 10_000;
const types: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'image/avif',
]);

/** Whether the account still wants the picture. */
async function isWanted(tx: Tx, userRef: number): Promise<boolean> {
  const { rows } = await sql`
    select from users u where u.ref = ${userRef} and ${takesClaimedPicture} for update`.execute(tx);
  return rows.length > 0;
}

async function store({ db, storage, ladder }: PictureDeps, user: number, received: Received) {
  await stageFile(storage, received);
  await db.transaction().execute(async (tx) => {
    if (!(await isWanted(tx, user))) return;
    await storeFile(tx, storage, received);
    const { hash, mime, kind, extension } = received;
    const id = await insertAsset(tx, {
      ownerRef: user,
      ladderKeys: keysOf(ladder),
      hash,
      mime,
      kind,
      fileName: `profile-picture.${extension ?? 'jpg'}`,
      fields: { title: 'Profile picture', sensitivity: 'public' },
    });
    await checkQuota(tx, user);
    await tx
      .updateTable('users')
      .set({ avatar_asset_id: id, picture_asset_id: id, updated_at: sql`now()` })
      .where('ref', '=', user)
      .execute();
  });
}

/** Fetches the picture that a provider claims for an account, and makes it the profile's (SSO-60). */
export function fetchProfilePictureJob(deps: PictureDeps): JobHandler<'fetch-profile-picture'> {
  const { config, log, storage } = deps;
  const limits = {
    privateAddresses: config.providerPrivateAddresses,
    timeoutMs: TIMEOUT_MS,
    mostBytes: MOST_BYTES,
  };
  return async ({ user, url }) => {
    try {
      const response = await guardedFetch(limits, url);
      if (response.status !== 200) throw new OutboundFailure(`it responds with ${response.status}`);
      const received = await receive(Readable.from([Buffer.from(await response.arrayBuffer())]), storage);
      try {
        if (!types.has(received.mime)) throw new OutboundFailure('it is not a picture');
        await store(deps, user, received);
      } finally {
        await discard(received.path);
      }
    } catch (error) {
      // Neither changes when it is tried again; the next sign-in does.
      if (!(error instanceof OutboundFailure) && !(error instanceof Refusal)) throw error;
      log.warn({ user, reason: error.message }, 'a profile picture could not be fetched');
    }
  };
}

import { createHash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getLogo, revertLogo, selectLogo, uploadLogo } from '@vitrine/contract/appearance';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { discard } from '../../content/assets/receive.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueueAll, type JobHandler } from '../../core/job-table.ts';
import { writeSetting } from '../../core/settings.ts';
import { DecodingStopped } from '../../media/decoding/process.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { hasCurrent } from '../../platform/http/etag.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { logoKey } from '../../platform/storage/object-key.ts';
import { mayRemoveFiles } from '../../platform/storage/removal.ts';
import { NoSuchObject } from '../../platform/storage/storage.ts';
import { readActiveLogo, readAdminAppearance } from './show.ts';

/** APPEARANCE-3: entries of the history. */
const HISTORY = 5;

/** Locks logos, against other changes and against the job that releases their bytes. */
export async function lockLogos(tx: Tx): Promise<void> {
  await takeLock(tx, 'logos');
}

async function useLogo(tx: Tx, caller: SignedIn, hash: string): Promise<void> {
  await tx
    .updateTable('logos')
    .set({
      last_used_at: sql`greatest(clock_timestamp(), (select max(last_used_at) + interval '1 millisecond' from logos))`,
    })
    .where('hash', '=', hash)
    .execute();
  await writeSetting(tx, 'logo', hash);
  await recordEvent(tx, caller, { event: 'appearance.logo.changed', metadata: { hash } });
}

/** Removes entries after the fifth; a job of the same transaction releases their bytes. */
async function evict(tx: Tx): Promise<void> {
  const { rows } = await sql<{ hash: string }>`
    delete from logos where hash in (
      select hash from logos order by last_used_at desc, hash offset ${HISTORY}) returning hash`.execute(tx);
  const jobs = rows.map(({ hash }) => ({ payload: { hash }, key: `logo:${hash}` }));
  await enqueueAll(tx, 'release-logo', jobs);
}

/** Detects the file's type by decoding; removes it with a 400 that names the violated rule. */
async function examine({ decoders }: Pick<Deps, 'decoders'>, caller: SignedIn, path: string) {
  try {
    const logo = await decoders.run('query', String(caller.ref), 'logo', { path });
    if ('fault' in logo) throw 'params' in logo ? refuse(logo.fault, logo.params) : refuse(logo.fault);
    return logo;
  } catch (error) {
    await discard(path);
    throw error instanceof DecodingStopped
      ? refuse('picture-decoding-stopped', { reason: error.sentence })
      : error;
  }
}

/** APPEARANCE-4: decides by decoding, never by name; 400 names the violated rule. */
export const upload = handle(uploadLogo, async (deps, { caller, http }) => {
  const { db, storage } = deps;
  const hash = createHash('sha256').update(http.raw).digest('hex');
  const path = join(storage.incomingDir, `logo-${randomUUID()}`);
  try {
    await writeFile(path, http.raw);
    const logo = await examine(deps, caller, path);
    await storage.stage(path, logoKey(hash));
    await db.transaction().execute(async (tx) => {
      await lockLogos(tx);
      await storage.adopt(path, logoKey(hash));
      await tx
        .insertInto('logos')
        .values({
          hash,
          content_type: logo.contentType,
          width: logo.width,
          height: logo.height,
          size_bytes: http.raw.length,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await useLogo(tx, caller, hash);
      await evict(tx);
    });
  } finally {
    await discard(path);
  }
  return { status: 200, body: await readAdminAppearance(deps) };
});

export const select = handle(selectLogo, async (deps, { caller, body }) => {
  await deps.db.transaction().execute(async (tx) => {
    await lockLogos(tx);
    const known = await tx
      .selectFrom('logos')
      .select('hash')
      .where('hash', '=', body.hash)
      .executeTakeFirst();
    if (known === undefined) throw refuse('logo-not-found');
    if ((await deps.storage.head(logoKey(body.hash))) === null) throw refuse('logo-unreadable');
    await useLogo(tx, caller, body.hash);
  });
  return { status: 200, body: await readAdminAppearance(deps) };
});

/** APPEARANCE-6: deselects the logo and deletes nothing. Idempotent. */
export const revert = handle(revertLogo, async (deps, { caller }) => {
  await deps.db.transaction().execute(async (tx) => {
    await lockLogos(tx);
    if ((await readActiveLogo(tx)) === null) return;
    await writeSetting(tx, 'logo', null);
    await recordEvent(tx, caller, { event: 'appearance.logo.reverted' });
  });
  return { status: 200, body: await readAdminAppearance(deps) };
});

/** Sends the bytes of the current logo, or of the recent one that `v` names; for everyone, before signing in. */
export const serve = handle(getLogo, async ({ db, storage }, { query, http }) => {
  const hash = query.v ?? (await readActiveLogo(db));
  const logo =
    hash === null
      ? undefined
      : await db.selectFrom('logos').selectAll().where('hash', '=', hash).executeTakeFirst();
  if (logo === undefined) throw notFound();
  const headers = {
    etag: `"${logo.hash}"`,
    'cache-control': query.v === undefined ? 'no-cache' : 'public, max-age=31536000, immutable',
    'content-security-policy': sandboxPolicy,
  };
  if (hasCurrent(http.header('if-none-match'), headers.etag)) return { status: 304, headers };
  const body = await storage.get(logoKey(logo.hash), logo.size_bytes).catch((error: unknown) => {
    if (error instanceof NoSuchObject) throw notFound();
    throw error;
  });
  const typed = { 'content-type': logo.content_type, 'content-length': String(logo.size_bytes) };
  return { status: 200, body, headers: { ...headers, ...typed } };
});

/** Removes the bytes of a logo unless a row names it. Returns whether it did. */
export async function removeUnusedLogo(
  { db, storage }: Pick<Deps, 'db' | 'storage'>,
  hash: string,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await lockLogos(tx);
    const kept = await tx.selectFrom('logos').select('hash').where('hash', '=', hash).executeTakeFirst();
    if (kept !== undefined || !(await mayRemoveFiles(tx))) return false;
    await storage.delete(logoKey(hash));
    return true;
  });
}

/** Removes the bytes of an evicted logo, unless it was uploaded again meanwhile. */
export function releaseLogoJob(deps: Pick<Deps, 'db' | 'storage'>): JobHandler<'release-logo'> {
  return async ({ hash }) => {
    await removeUnusedLogo(deps, hash);
  };
}

import { type ShareLinkUpdate, updateLink } from '@vitrine/contract/links';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { checkLinkScope, liveLink, manageableLinks } from '../../access/links.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { checkApprovals } from '../approvals/gates.ts';
import { lockEditable as lockAsset } from '../assets/edit.ts';
import { lockTarget } from './create.ts';
import { checkVersion } from './pinned.ts';
import { type LinkRow, linkColumns, shownLink } from './show.ts';
import { countOmitted } from './target.ts';
import {
  checkPresets,
  hashLinkPassword,
  presetKeys,
  roomForLinks,
  tooManyLinks,
  watermarkText,
} from './terms.ts';

/** Locks a link the caller may change: 404 when there is none, 403 for a token without the scope. */
export async function lockLink(tx: Tx, caller: SignedIn, id: string): Promise<LinkRow> {
  const { rows } = await sql<LinkRow>`select ${linkColumns} from share_links l
    where l.id = ${id} and ${manageableLinks(caller)} for no key update of l`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  checkLinkScope(caller, row.target_kind);
  return row;
}

/** Returns the changes by column; hashes the password before any lock is taken. */
async function changesOf(deps: Deps, linkId: string, body: ShareLinkUpdate) {
  const { label, password, watermark, presets, ...columns } = patchOf(body, [
    'label',
    'expires_at',
    'password',
    'allow_download',
    'watermark',
    'version',
    'presets',
    'allow_feedback',
    'allow_picks',
    'max_picks',
  ]);
  checkInFuture('expires_at', body.expires_at ?? null);
  return {
    ...columns,
    ...(presets === undefined ? {} : { presets: presetKeys(presets) }),
    ...(label === undefined ? {} : { label: label.trim() }),
    ...(password === undefined
      ? {}
      : { password_hash: password === null ? null : await hashLinkPassword(deps, linkId, password) }),
    ...(watermark === undefined
      ? {}
      : { watermark: watermark === null ? null : await watermarkText(deps.db, watermark) }),
  };
}

/**
 * An expired link works again only where a new one could be created: with the approvals that it needs (APPROVAL-1), and within
 * the limit of its target (LINK-16).
 */
async function checkRevival(
  tx: Tx,
  caller: SignedIn,
  { id, target_kind, target_id }: LinkRow,
  overrideReason: string | null,
): Promise<void> {
  const expired = await sql`select from share_links l where l.id = ${id} and not ${liveLink}`.execute(tx);
  if (expired.rows.length === 0) return;
  await lockTarget[target_kind](tx, caller, target_id);
  if (target_kind === 'post') await checkApprovals(tx, caller, target_id, ['links'], overrideReason);
  const { rows } = await sql`select where ${roomForLinks(target_kind, target_id)} > 0`.execute(tx);
  if (rows.length === 0) throw tooManyLinks(target_kind);
}

/**
 * `PATCH /links/{link}`. Changing or removing the password invalidates earlier unlocks. A revoked link stays revoked.
 */
export const edit = handle(updateLink, async (deps, { caller, params, body }) => {
  const changes = await changesOf(deps, params.link, body);
  const changed = await deps.db.transaction().execute(async (tx) => {
    const link = await lockLink(tx, caller, params.link);
    if (link.revoked_at !== null) throw refuse('link-revoked');
    if (body.version != null) {
      if (link.target_kind === 'asset') await lockAsset(tx, caller, link.target_id);
      await checkVersion(tx, { kind: link.target_kind, id: link.target_id }, body.version);
    }
    if ('expires_at' in changes) await checkRevival(tx, caller, link, body.override_reason ?? null);
    if (body.presets != null) await checkPresets(tx, caller, body.presets);
    if (Object.keys(changes).length > 0) {
      await tx
        .updateTable('share_links')
        .set({ ...changes, updated_at: sql`now()` })
        .where('id', '=', link.id)
        .execute();
      const { password_hash: password, ...auditedChanges } = changes;
      await recordEvent(tx, caller, {
        event: 'link.changed',
        target: { kind: 'link', id: link.id },
        metadata: {
          label: link.label,
          target_kind: link.target_kind,
          target_id: link.target_id,
          changes: {
            ...auditedChanges,
            ...(password === undefined ? {} : { has_password: password !== null }),
          },
        },
      });
    }
    const row = await lockLink(tx, caller, params.link);
    return { ...shownLink(row), omitted_count: await countOmitted(tx, row.target_kind, row.target_id) };
  });
  return { status: 200, body: changed };
});

import { randomUUID } from 'node:crypto';
import {
  createAssetLink,
  createCollectionLink,
  createPostLink,
  type NewShareLink,
  type ShareLinkCreate,
  type TargetKind,
} from '@vitrine/contract/links';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { checkApprovals } from '../approvals/gates.ts';
import { lockEditable as lockAsset } from '../assets/edit.ts';
import { lockCollection } from '../collections/lock.ts';
import { lockEditable as lockPost } from '../posts/edit.ts';
import { type NewAddress, newAddress } from './address.ts';
import { checkVersion } from './pinned.ts';
import { type LinkRow, linkColumns, shownLink } from './show.ts';
import { countOmitted, targetColumn } from './target.ts';
import {
  checkPresets,
  hashLinkPassword,
  presetKeys,
  roomForLinks,
  tooManyLinks,
  watermarkText,
} from './terms.ts';

/** Locks a target for a caller who may edit it: 404 when they may not read it, 403 when they may only read it. */
export const lockTarget: Record<TargetKind, (tx: Tx, caller: SignedIn, id: string) => Promise<unknown>> = {
  post: lockPost,
  asset: lockAsset,
  collection: lockCollection,
};

async function checkShowable(tx: Tx, kind: TargetKind, id: string): Promise<void> {
  if (kind !== 'asset') return;
  const asset = await tx.selectFrom('assets').select('mature').where('id', '=', id).executeTakeFirst();
  if (asset?.mature === true) throw refuse('link-mature-content');
}

async function insertLink(
  tx: Tx,
  caller: SignedIn,
  { kind, id }: { kind: TargetKind; id: string },
  terms: ShareLinkCreate & { linkId: string; address: NewAddress; passwordHash: string | null },
): Promise<LinkRow> {
  const watermark = terms.watermark == null ? null : await watermarkText(tx, terms.watermark);
  const { rows } = await sql<LinkRow>`
    insert into share_links as l (id, token_hash, token_sealed, ${targetColumn(kind)}, created_by_user_ref, label,
      password_hash, allow_download, watermark, version, presets, allow_feedback, allow_picks,
      max_picks, expires_at)
    select ${terms.linkId}::uuid, ${terms.address.tokenHash}::bytea, ${terms.address.tokenSealed}::bytea, ${id}::uuid, ${caller.ref}::bigint,
      ${terms.label?.trim() ?? ''}, ${terms.passwordHash}, ${terms.allow_download ?? false}::boolean, ${watermark},
      ${terms.version ?? null}::integer,
      ${presetKeys(terms.presets)}::text[], ${terms.allow_feedback ?? false}::boolean, ${terms.allow_picks ?? false}::boolean,
      ${terms.max_picks ?? null}::integer, ${terms.expires_at ?? null}::timestamptz
    where ${roomForLinks(kind, id)} > 0
    returning ${linkColumns}`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw tooManyLinks(kind);
  return row;
}

/** Creates a link to something the caller may edit. */
export async function makeLink(
  deps: Deps,
  caller: SignedIn,
  target: { kind: TargetKind; id: string },
  terms: ShareLinkCreate,
  http: Pick<HttpFacts, 'header'>,
): Promise<NewShareLink> {
  checkInFuture('expires_at', terms.expires_at ?? null);
  const linkId = randomUUID();
  const passwordHash = terms.password == null ? null : await hashLinkPassword(deps, linkId, terms.password);
  const address = await newAddress(deps, http);
  return deps.db.transaction().execute(async (tx) => {
    await lockTarget[target.kind](tx, caller, target.id);
    await checkShowable(tx, target.kind, target.id);
    if (target.kind === 'post')
      await checkApprovals(tx, caller, target.id, ['links'], terms.override_reason ?? null);
    if (terms.version != null) await checkVersion(tx, target, terms.version);
    if (terms.presets != null) await checkPresets(tx, caller, terms.presets);
    const row = await insertLink(tx, caller, target, { ...terms, linkId, address, passwordHash });
    await recordEvent(tx, caller, {
      event: 'link.created',
      target: { kind: 'link', id: row.id },
      metadata: {
        label: row.label,
        target_kind: target.kind,
        target_id: target.id,
        expires_at: row.expires_at,
        has_password: row.has_password,
        allow_download: row.allow_download,
        watermark: row.watermark,
        allow_feedback: row.allow_feedback,
        allow_picks: row.allow_picks,
        ...(row.max_picks === null ? {} : { max_picks: row.max_picks }),
        ...(row.version === null ? {} : { version: row.version }),
        ...(row.presets === null ? {} : { presets: row.presets.join(', ') }),
      },
    });
    const { url, token } = address;
    return { ...shownLink(row), omitted_count: await countOmitted(tx, target.kind, target.id), url, token };
  });
}

export const toPost = handle(createPostLink, async (deps, { caller, params, body, http }) => ({
  status: 201,
  body: await makeLink(deps, caller, { kind: 'post', id: params.id }, body ?? {}, http),
}));

export const toAsset = handle(createAssetLink, async (deps, { caller, params, body, http }) => ({
  status: 201,
  body: await makeLink(deps, caller, { kind: 'asset', id: params.id }, body ?? {}, http),
}));

export const toCollection = handle(createCollectionLink, async (deps, { caller, params, body, http }) => ({
  status: 201,
  body: await makeLink(deps, caller, { kind: 'collection', id: params.id }, body ?? {}, http),
}));

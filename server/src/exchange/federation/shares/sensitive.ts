import { isDeepStrictEqual } from 'node:util';
import {
  updateFederation as contract,
  type SensitiveAsset,
  type SensitiveMember,
} from '@vitrine/contract/federation';
import { type RawBuilder, sql } from 'kysely';
import { editableAssets, readableAssets, shownAssets } from '../../../access/assets.ts';
import type { SignedIn } from '../../../access/caller.ts';
import { sensitiveAsset, sensitiveMember } from '../../../access/federation.ts';
import { ownerName } from '../../../access/identities.ts';
import { passedOn } from '../../../access/links.ts';
import { lockTarget } from '../../../content/links/create.ts';
import type { Deps } from '../../../core/deps.ts';
import { handle } from '../../../core/handle.ts';
import { notifyPeer } from '../../../core/outbox/enqueue.ts';
import { writeSetting } from '../../../core/settings.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { recipientAt } from '../encrypt.ts';
import { type Install, showFederation } from '../identity.ts';
import { readInstanceAt } from '../peers/instance.ts';
import { encryptionCapabilities, readKeyGraceDays, readSensitiveContent } from '../settings.ts';

type Kind = 'post' | 'asset' | 'collection';

/** The sensitive content that a share could include. */
interface Contents {
  /** As the caller sees it, without what they are not given at all. */
  sensitive: SensitiveMember[];
  /** Whether anything remains without the sensitive assets. */
  hasOther: boolean;
  /** Whether some sensitive content cannot be confirmed by the caller. */
  hasUnconfirmable: boolean;
}

interface ContentRow {
  sensitive: boolean;
  given: boolean;
  shown: boolean;
  owner_name: string | null;
  asset_id: string;
  title: string;
  restricted: boolean;
  mature: boolean;
  confirmable: boolean;
}

function memberOf({ shown, owner_name, ...row }: ContentRow): SensitiveMember {
  const { asset_id, title, restricted, mature, confirmable } = row;
  if (shown) return { asset_id, title, restricted, mature, confirmable };
  return { asset_id, restricted: true, ...(owner_name === null ? {} : { owner_display_name: owner_name }) };
}

/** Returns the restricted and mature assets that a share could include; collections include none. */
export async function readContents(
  db: Database,
  caller: SignedIn,
  kind: Kind,
  id: string,
): Promise<Contents> {
  if (kind === 'collection') return { sensitive: [], hasOther: true, hasUnconfirmable: false };
  const columns = sql`a.id as asset_id, a.title, a.sensitivity = 'restricted' as restricted, a.mature,
    ${editableAssets(caller)} is true as confirmable, ${readableAssets(caller)} is true as given,
    ${shownAssets(caller)} as shown, ${ownerName(caller, 'o')} as owner_name`;
  const query: RawBuilder<ContentRow> =
    kind === 'asset'
      ? sql`select ${columns}, ${sensitiveAsset} as sensitive
          from assets a left join users o on o.ref = a.owner_user_ref where a.id = ${id}`
      : sql`select ${columns}, ${sensitiveMember} as sensitive
          from posts p join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id
            left join users o on o.ref = a.owner_user_ref
          where p.id = ${id} and (${sensitiveMember} or ${passedOn}) order by m.sort_order, a.id`;
  const { rows } = await query.execute(db);
  const found = rows.filter(({ sensitive }) => sensitive);
  return {
    sensitive: found.filter(({ given }) => given).map(memberOf),
    hasOther: found.length < rows.length,
    hasUnconfirmable: found.some(({ confirmable }) => !confirmable),
  };
}

/** Returns the members that the caller may confirm. */
function confirmableOf(members: readonly SensitiveMember[]): SensitiveAsset[] {
  return members.filter((member) => 'confirmable' in member).filter(({ confirmable }) => confirmable);
}

/** Names assets with what is sensitive about them: “Quay” (restricted, mature). */
function named(assets: readonly SensitiveAsset[]): string {
  const names = assets.slice(0, 10).map(({ title, restricted, mature }) => {
    const why = [restricted ? 'restricted' : null, mature ? 'mature' : null].filter((word) => word !== null);
    return `“${title}” (${why.join(', ')})`;
  });
  return assets.length > names.length
    ? `${names.join(', ')} and ${assets.length - names.length} more`
    : names.join(', ');
}

/** A requested share with a peer or with one person there. */
export interface ShareRequest {
  kind: Kind;
  id: string;
  peer: { id: string; instance_url: string; display_name: string };
  person: string | null;
  confirm: boolean | null;
}

/** The obstacle for callers who may confirm none of the content. The text names no asset: some may be withheld. */
const notTheirs = { why: 'not_theirs', refusal: refuse('sensitive-not-yours') };

/**
 * Returns whether the peer supports encryption; reads its instance document again if not, since it may have been
 * updated.
 */
async function canDecrypt(deps: Deps, peer: ShareRequest['peer']): Promise<boolean> {
  const read = async () => {
    const { rows } = await sql<{ capable: boolean }>`
      select capabilities @> ${[...encryptionCapabilities]}::text[] as capable from federation_peers
      where id = ${peer.id}`.execute(deps.db);
    return rows[0]?.capable === true;
  };
  if (await read()) return true;
  const found = await readInstanceAt(deps, peer.instance_url);
  await deps.db
    .updateTable('federation_peers')
    .set({ capabilities: found.capabilities })
    .where('id', '=', peer.id)
    .where('public_key', '=', found.publicKey)
    .execute();
  return read();
}

/** Returns why the sensitive assets cannot be included, as a word for the audit log and an error; null if they can. */
async function obstacle(
  deps: Deps,
  install: Install,
  wanted: ShareRequest,
  assets: readonly SensitiveAsset[],
) {
  const { peer, person } = wanted;
  if ((await readSensitiveContent(deps.db)) === 'never')
    return { why: 'never', refusal: refuse('sensitive-stays', { assets: named(assets) }) };
  if (person === null)
    return { why: 'no_person', refusal: refuse('sensitive-needs-person', { assets: named(assets) }) };
  if (!(await canDecrypt(deps, peer)))
    return {
      why: 'not_supported',
      refusal: refuse('sensitive-not-decryptable', { peer: peer.display_name }),
    };
  const found = await recipientAt(deps, install, { peerId: peer.id, url: peer.instance_url }, person, {
    fresh: true,
  });
  if (found?.box_key == null) return { why: 'no_key', refusal: refuse('sensitive-without-key', { person }) };
  if (wanted.confirm !== true)
    return { why: 'unconfirmed', refusal: refuse('sensitive-unconfirmed', { assets: named(assets) }) };
  return null;
}

/**
 * Returns the assets that a share includes, encrypted for the person: none unless the library allows it, the peer
 * supports encryption and the caller, who manages their shares, confirmed it (FED-50, FED-58). Throws 409 if they were
 * requested and cannot be included, or if nothing would remain without them, and 403 if the caller may confirm none of
 * them; every decision is audited.
 */
export async function confirmSensitive(
  deps: Deps,
  caller: SignedIn,
  install: Install,
  wanted: ShareRequest,
): Promise<string[]> {
  const { kind, id, peer, person, confirm } = wanted;
  const { sensitive, hasOther, hasUnconfirmable } = await deps.db.transaction().execute(async (tx) => {
    await lockTarget[kind](tx, caller, id);
    return readContents(tx, caller, kind, id);
  });
  const confirmable = confirmableOf(sensitive);
  if (confirmable.length === 0 && !hasUnconfirmable) return [];
  if (hasOther && (confirm === false || (confirm !== true && confirmable.length === 0))) return [];
  const found = confirmable.length === 0 ? notTheirs : await obstacle(deps, install, wanted, confirmable);
  const assets = confirmable.map(({ asset_id }) => asset_id);
  // A library that never sends sensitive content omits it.
  if (found?.why === 'never' && hasOther && confirm !== true) return [];
  await deps.db.transaction().execute((tx) =>
    recordEvent(tx, caller, {
      event: found === null ? 'federation.sensitive.confirmed' : 'federation.sensitive.refused',
      target: { kind, id },
      metadata: {
        instance_url: peer.instance_url,
        person,
        assets,
        ...(found === null ? {} : { why: found.why }),
      },
    }),
  );
  if (found !== null) throw found.refusal;
  return assets;
}

/** Stops sending sensitive content, and withdraws from peers what was sent (FED-50). */
async function withdrawAll(tx: Tx, caller: SignedIn): Promise<void> {
  const { rows } = await sql<{
    kind: 'post' | 'asset' | 'collection';
    object_id: string;
    peer_id: string;
    target_actor: string | null;
  }>`
    update federation_shares set sensitive_assets = '{}'
    where revoked_at is null and cardinality(sensitive_assets) > 0
    returning kind, object_id, peer_id, target_actor`.execute(tx);
  for (const { kind, object_id, peer_id, target_actor } of rows) {
    await recordEvent(tx, caller, {
      event: 'federation.sensitive.withdrawn',
      target: { kind, id: object_id },
      metadata: { person: target_actor },
    });
    await notifyPeer(tx, peer_id, { activity: 'update', kind, objectId: object_id, actorRef: caller.ref });
  }
}

export const updateFederation = handle(contract, async (deps, { caller, body }) => {
  await deps.db.transaction().execute(async (tx) => {
    const before = {
      sensitive_content: await readSensitiveContent(tx),
      key_grace_days: await readKeyGraceDays(tx),
    };
    const after = {
      sensitive_content: body.sensitive_content ?? before.sensitive_content,
      key_grace_days: body.key_grace_days ?? before.key_grace_days,
    };
    if (isDeepStrictEqual(before, after)) return;
    await writeSetting(tx, 'federation_sensitive', after.sensitive_content);
    await writeSetting(tx, 'federation_key_grace_days', after.key_grace_days);
    await recordEvent(tx, caller, { event: 'federation.settings.updated', metadata: { before, after } });
    if (before.sensitive_content !== 'never' && after.sensitive_content === 'never')
      await withdrawAll(tx, caller);
  });
  return { status: 200, body: await showFederation(deps) };
});

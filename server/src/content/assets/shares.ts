import * as contract from '@vitrine/contract/shares';
import { handle } from '../../core/handle.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { getShare, listShares, putShare, removeShare, type Share, type Shareable } from '../shares.ts';
import { lockEditable } from './edit.ts';

const asset: Shareable<Share & { expires_at: string | null }> = {
  kind: 'asset',
  lock: lockEditable,
  show: (share, expires_at) => ({ ...share, expires_at }),
};

export const list = handle(contract.listAssetShares, async ({ db }, { caller, params, query }) => ({
  status: 200,
  body: await listShares(db, caller, asset, params.id, query),
}));

export const get = handle(contract.getAssetShare, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await getShare(db, caller, asset, params.id, params.user_ref),
}));

export const put = handle(contract.putAssetShare, async ({ db }, { caller, params, body }) => {
  const expiresAt = body?.expires_at ?? null;
  checkInFuture('expires_at', expiresAt);
  const { created, share } = await putShare(db, caller, asset, params.id, params.user_ref, expiresAt);
  return created ? { status: 201 as const, body: share } : { status: 200 as const, body: share };
});

export const remove = handle(contract.deleteAssetShare, async ({ db }, { caller, params }) => {
  await removeShare(db, caller, asset, params.id, params.user_ref);
  return { status: 204 };
});

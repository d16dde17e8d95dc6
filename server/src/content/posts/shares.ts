import * as contract from '@vitrine/contract/shares';
import { handle } from '../../core/handle.ts';
import { getShare, listShares, putShare, removeShare, type Shareable } from '../shares.ts';
import { lockEditable } from './edit.ts';

const post: Shareable = { kind: 'post', lock: lockEditable, show: (share) => share };

export const list = handle(contract.listShares, async ({ db }, { caller, params, query }) => ({
  status: 200,
  body: await listShares(db, caller, post, params.id, query),
}));

export const get = handle(contract.getShare, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await getShare(db, caller, post, params.id, params.user_ref),
}));

export const put = handle(contract.putShare, async ({ db }, { caller, params }) => {
  const { created, share } = await putShare(db, caller, post, params.id, params.user_ref);
  return created ? { status: 201 as const, body: share } : { status: 200 as const, body: share };
});

export const remove = handle(contract.deleteShare, async ({ db }, { caller, params }) => {
  await removeShare(db, caller, post, params.id, params.user_ref);
  return { status: 204 };
});

import * as contract from '@vitrine/contract/shares';
import { handle } from '../../core/handle.ts';
import { getShare, listShares, putShare, removeShare, type Shareable } from '../shares.ts';
import { lockCollection } from './lock.ts';

const collection: Shareable = { kind: 'collection', lock: lockCollection, show: (share) => share };

export const list = handle(contract.listCollectionShares, async ({ db }, { caller, params, query }) => ({
  status: 200,
  body: await listShares(db, caller, collection, params.id, query),
}));

export const get = handle(contract.getCollectionShare, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await getShare(db, caller, collection, params.id, params.user_ref),
}));

export const put = handle(contract.putCollectionShare, async ({ db }, { caller, params }) => {
  const { created, share } = await putShare(db, caller, collection, params.id, params.user_ref);
  return created ? { status: 201 as const, body: share } : { status: 200 as const, body: share };
});

export const remove = handle(contract.deleteCollectionShare, async ({ db }, { caller, params }) => {
  await removeShare(db, caller, collection, params.id, params.user_ref);
  return { status: 204 };
});

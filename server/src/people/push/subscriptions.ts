import { createPublicKey } from 'node:crypto';
import type { BodyOf } from '@vitrine/contract/operation';
import {
  createPushSubscription,
  deletePushSubscription,
  getPushKey,
  listPushSubscriptions,
} from '@vitrine/contract/push';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { parseOutboundUrl } from '../../platform/http/guarded-fetch.ts';
import { leadsInside } from '../../platform/http/outbound-addresses.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { readPushKey } from './key.ts';

/** PUSH-1: the most subscriptions of an account, of which the newest are kept. */
const MOST_SUBSCRIPTIONS = 20;

const shown = ['id', 'endpoint', 'created_at'] as const;

export const showKey = handle(getPushKey, async (deps) => ({
  status: 200,
  body: { key: (await readPushKey(deps)).publicKey },
}));

export const list = handle(listPushSubscriptions, async ({ db }, { caller }) => {
  const items = await db
    .selectFrom('push_subscriptions')
    .select(shown)
    .where('user_ref', '=', caller.ref)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return { status: 200, body: { items } };
});

/** Returns the keys in their usual form; 400 if messages could not be encrypted with them. */
function readKeys({ p256dh, auth }: BodyOf<typeof createPushSubscription>['keys']) {
  const point = Buffer.from(p256dh, 'base64url');
  const secret = Buffer.from(auth, 'base64url');
  try {
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
    // Throws for a point that is not on the curve.
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' } });
  } catch {
    throw refuse('push-keys-invalid');
  }
  if (point[0] !== 4) throw refuse('push-keys-invalid');
  return { p256dh: point.toString('base64url'), auth: secret.toString('base64url') };
}

/** PUSH-4: refuses internal addresses, so that nobody sends requests into the network of the library. */
async function checkEndpoint(endpoint: string, privateAddresses: boolean): Promise<void> {
  const url = parseOutboundUrl(endpoint, privateAddresses);
  if (url === null || (await leadsInside(url.hostname, privateAddresses)))
    throw refuse('push-endpoint-internal');
}

interface Given {
  endpoint: string;
  p256dh: string;
  auth: string;
}

async function store(tx: Tx, caller: SignedIn, given: Given) {
  const { ref, sessionId } = caller;
  // The scope admits sessions only.
  if (sessionId === null) throw refuse('sign-in-required');
  const known = await tx
    .selectFrom('push_subscriptions')
    .select(shown)
    .where('endpoint', '=', given.endpoint)
    .where('session_id', '=', sessionId)
    .where('p256dh', '=', given.p256dh)
    .where('auth', '=', given.auth)
    .executeTakeFirst();
  if (known !== undefined) return { status: 200, body: known } as const;
  // Only the browser knows its endpoint, so it is the browser of the account that signed in last.
  await tx.deleteFrom('push_subscriptions').where('endpoint', '=', given.endpoint).execute();
  const body = await tx
    .insertInto('push_subscriptions')
    .values({ user_ref: ref, session_id: sessionId, ...given })
    .onConflict((conflict) =>
      conflict.column('endpoint').doUpdateSet({ user_ref: ref, session_id: sessionId, ...given }),
    )
    .returning(shown)
    .executeTakeFirstOrThrow();
  const surplus = tx
    .selectFrom('push_subscriptions')
    .select('id')
    .where('user_ref', '=', ref)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .offset(MOST_SUBSCRIPTIONS);
  await tx.deleteFrom('push_subscriptions').where('id', 'in', surplus).execute();
  return { status: 201, body } as const;
}

/** Idempotent for one session (PUSH-1). */
export const subscribe = handle(createPushSubscription, async ({ db, config }, { caller, body }) => {
  const { endpoint } = body;
  const keys = readKeys(body.keys);
  await checkEndpoint(endpoint, config.pushPrivateAddresses);
  return db.transaction().execute((tx) => store(tx, caller, { endpoint, ...keys }));
});

export const unsubscribe = handle(deletePushSubscription, async ({ db }, { caller, params }) => {
  const { numDeletedRows } = await db
    .deleteFrom('push_subscriptions')
    .where('id', '=', params.id)
    .where('user_ref', '=', caller.ref)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound();
  return { status: 204 };
});

import { createHash } from 'node:crypto';
import { buildPushPayload } from '@block65/webcrypto-web-push';
import type { Notification } from '@vitrine/contract/notifications';
import { MOST_PUSH_TEXT, type PushMessage } from '@vitrine/contract/push';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import type { Deps } from '../../core/deps.ts';
import type { JobHandler } from '../../core/job-table.ts';
import { readSite } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { guardedFetch, OutboundFailure } from '../../platform/http/guarded-fetch.ts';
import { preferredLanguage } from '../../platform/language/preferred.ts';
import { showNotifications } from '../notifications/show.ts';
import { pathOf, sentenceOf } from '../notifications/wording.ts';
import { readPushKey } from './key.ts';

type PushDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 64 * 1024;
/** How long a push service keeps a message for a device that is off, in seconds. */
const TTL_SECONDS = 24 * 3600;

interface Target {
  id: string;
  user_ref: number;
  endpoint: string;
  p256dh: string;
  auth: string;
}

/** Returns a subscription whose session is valid. */
async function findTarget(db: Database, id: string): Promise<Target | null> {
  const row = await db
    .selectFrom('push_subscriptions as ps')
    .innerJoin('sessions as s', 's.id', 'ps.session_id')
    .select(['ps.id', 'ps.user_ref', 'ps.endpoint', 'ps.p256dh', 'ps.auth'])
    .where('ps.id', '=', id)
    .where('s.expires_at', '>', sql<string>`now()`)
    .executeTakeFirst();
  return row ?? null;
}

/** Returns the notification as its recipient may see it now, unless it was read meanwhile (PUSH-3). */
async function findNotification(db: Database, recipient: SignedIn, id: string): Promise<Notification | null> {
  const which = sql<boolean>`n.id = ${id} and n.in_app and n.read_at is null`;
  const [notification] = await showNotifications(db, recipient, which, sql``);
  return notification ?? null;
}

/** Returns the address at which push services reach the operator of the library (RFC 8292). */
async function subjectOf({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<string> {
  const { base_url } = await readSite({ db, config });
  if (base_url?.startsWith('https:') === true) return base_url;
  return `mailto:${config.mail.from?.address ?? 'vitrine@example.invalid'}`;
}

/** Sends a message and returns the status of the response. */
async function send(deps: PushDeps, target: Target, message: PushMessage): Promise<number> {
  const { publicKey, privateKey } = await readPushKey(deps);
  const { endpoint, p256dh, auth } = target;
  const payload = await buildPushPayload(
    {
      data: { ...message },
      options: {
        ttl: TTL_SECONDS,
        urgency: 'normal',
        // A message that is sent again replaces the first one. A topic has at most 32 characters.
        topic: createHash('sha256').update(message.tag).digest('base64url').slice(0, 32),
      },
    },
    // The library signs for https only; services of a private network may be without TLS.
    { endpoint: endpoint.replace(/^http:/, 'https:'), expirationTime: null, keys: { p256dh, auth } },
    { subject: await subjectOf(deps), publicKey, privateKey },
  );
  const limits = {
    privateAddresses: deps.config.pushPrivateAddresses,
    timeoutMs: TIMEOUT_MS,
    mostBytes: MOST_BYTES,
  };
  const headers = Object.fromEntries(new Headers(payload.headers));
  const body = new Uint8Array(payload.body);
  return (await guardedFetch(limits, endpoint, { method: 'POST', headers, body })).status;
}

/** Sends one notification to one browser, and removes the subscription of a browser that is gone (PUSH-5). */
export function sendPushJob(deps: PushDeps): JobHandler<'send-push'> {
  const { db } = deps;
  return async ({ subscription, notification: id }, { lastAttempt, log }) => {
    const target = await findTarget(db, subscription);
    if (target === null) return;
    const recipient = await callerOf(db, target.user_ref);
    if (recipient === null) return;
    const notification = await findNotification(db, recipient, id);
    if (notification === null) return;
    const language = preferredLanguage(recipient.account.preferences) ?? 'en';
    const message = {
      kind: notification.kind,
      text: sentenceOf(language, notification).slice(0, MOST_PUSH_TEXT),
      path: pathOf(notification),
      tag: id,
      user: target.user_ref,
    };
    try {
      const status = await send(deps, target, message);
      if (status < 300) return;
      if (status === 404 || status === 410) {
        await db.deleteFrom('push_subscriptions').where('id', '=', target.id).execute();
        return;
      }
      throw new OutboundFailure(`it responds with ${status}`);
    } catch (error) {
      if (!(error instanceof OutboundFailure) || !lastAttempt) throw error;
      log.warn({ user: target.user_ref, reason: error.message }, 'a push message was not delivered');
    }
  };
}

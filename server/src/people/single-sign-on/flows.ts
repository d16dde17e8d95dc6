import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import type { ScopedCookie } from '../../platform/http/answer.ts';
import { hashToken } from '../identity/sessions.ts';
import { SignInFailure } from './failure.ts';
import type { Person } from './person.ts';

const COOKIE = 'sign_in';
const MINUTES = 10;

/** What binds a response to the request that the same browser sent. */
export interface Binding {
  state: string;
  nonce: string;
  verifier: string;
}

interface Cookies {
  cookie(name: string): string | null;
}

/** Returns the secret of the browser (SSO-20): the one it has, so that several sign-ins can be under way, or a new one. */
export function browserSecret(http: Cookies): string {
  return secretIn(http) ?? randomBytes(32).toString('base64url');
}

function secretIn(http: Cookies): string | null {
  const secret = http.cookie(COOKIE);
  return secret !== null && /^[\w-]{43}$/.test(secret) ? secret : null;
}

/** Returns the cookie that keeps the secret for the time of a sign-in. The page of a SAML provider posts its response. */
export function flowCookie(secret: string, crossSite = false): ScopedCookie {
  return { name: COOKIE, value: secret, path: basePath, maxAgeSeconds: MINUTES * 60, crossSite };
}

/** Derives what the flow sends from the browser's secret, so that the database alone does not suffice to finish it. */
function derive(secret: string, id: string, purpose: string): string {
  return createHmac('sha256', secret).update(`${purpose} ${id}`).digest('base64url');
}

function bindingOf(secret: string, id: string): Binding {
  return {
    state: `${id}.${derive(secret, id, 'state')}`,
    nonce: derive(secret, id, 'nonce'),
    verifier: derive(secret, id, 'verifier'),
  };
}

export interface NewFlow {
  secret: string;
  provider: string;
  purpose: 'sign_in' | 'link' | 'confirm' | 'second_factor';
  userRef?: number;
  sessionId?: string;
  returnTo?: string | null;
  /** The invitation with which the sign-in began. */
  invitationId?: string | null;
  person?: Person;
}

/** Stores the beginning of a flow and returns what the request sends. */
export async function beginFlow(db: Database | Tx, flow: NewFlow): Promise<Binding> {
  const { id } = await db
    .insertInto('sign_in_flows')
    .values({
      browser_hash: hashToken(flow.secret),
      provider: flow.provider,
      purpose: flow.purpose,
      user_ref: flow.userRef ?? null,
      session_id: flow.sessionId ?? null,
      return_to: flow.returnTo ?? null,
      invitation_id: flow.invitationId ?? null,
      identity: flow.person === undefined ? null : JSON.stringify(flow.person),
      expires_at: sql<string>`now() + make_interval(mins => ${MINUTES})`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return bindingOf(flow.secret, id);
}

/** A flow whose response has arrived. */
export interface TakenFlow {
  secret: string;
  binding: Binding;
  purpose: 'sign_in' | 'link' | 'confirm' | 'second_factor';
  userRef: number | null;
  sessionId: string | null;
  returnTo: string | null;
  invitationId: string | null;
}

/**
 * Takes the flow of a response, once (SSO-21). Throws SignInFailure: `expired` for one that is over or unknown, `invalid`
 * for one of another browser, which remains usable there.
 */
export async function takeFlow(
  db: Database,
  http: Cookies,
  { provider, state }: { provider: string; state: string },
): Promise<TakenFlow> {
  const [, id] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[\w-]{43}$/.exec(state) ?? [];
  if (id === undefined) throw new SignInFailure('invalid', 'the response has no state of this library');
  const { rows } = await sql<{ browser_hash: Buffer; live: boolean }>`
    select browser_hash, used_at is null and expires_at > now() as live from sign_in_flows
    where id = ${id} and provider = ${provider} and purpose in ('sign_in', 'link')`.execute(db);
  const row = rows[0];
  if (row?.live !== true) throw new SignInFailure('expired', 'the sign-in is over, or was never begun');
  const secret = secretIn(http);
  const binding = secret === null ? null : bindingOf(secret, id);
  const isOwn =
    secret !== null &&
    timingSafeEqual(hashToken(secret), row.browser_hash) &&
    binding !== null &&
    timingSafeEqual(hashToken(binding.state), hashToken(state));
  if (!isOwn) throw new SignInFailure('invalid', 'another browser began the sign-in');
  const taken = await db
    .updateTable('sign_in_flows')
    .set({ used_at: sql`now()` })
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .returning(['purpose', 'user_ref', 'session_id', 'return_to', 'invitation_id'])
    .executeTakeFirst();
  if (taken === undefined) throw new SignInFailure('expired', 'the response has arrived before');
  const { purpose, user_ref: userRef, session_id: sessionId } = taken;
  const { return_to: returnTo, invitation_id: invitationId } = taken;
  return { secret, binding, purpose, userRef, sessionId, returnTo, invitationId };
}

/** A sign-in that needs a password or a code. */
export interface PendingSignIn {
  id: string;
  provider: string;
  purpose: 'confirm' | 'second_factor';
  userRef: number | null;
  person: Person | null;
}

/** Returns the newest pending sign-in of this browser, or null. */
export async function findPending(db: Database, http: Cookies): Promise<PendingSignIn | null> {
  const secret = secretIn(http);
  if (secret === null) return null;
  // `identity` is what `beginFlow` stored.
  const { rows } = await sql<PendingSignIn>`
    select id, provider, purpose, user_ref as "userRef", identity as person from sign_in_flows
    where browser_hash = ${hashToken(secret)} and purpose in ('confirm', 'second_factor')
      and used_at is null and expires_at > now()
    order by created_at desc, id desc limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Uses up a pending sign-in; returns whether it was still pending. */
export async function usePending(tx: Tx, id: string): Promise<boolean> {
  const used = await tx
    .updateTable('sign_in_flows')
    .set({ used_at: sql`now()`, identity: null })
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return used !== undefined;
}

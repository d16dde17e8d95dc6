import type { SignedIn } from '../../access/caller.ts';
import type { Tx } from '../../platform/database/pool.ts';

/** What happened, to which account and thing (AUDIT-1). */
export interface AuditEvent {
  event: string;
  /** The actor, if not the caller: an impersonating administrator. */
  actorUserRef?: number;
  subjectUserRef?: number;
  target?: {
    kind: 'post' | 'asset' | 'team' | 'token' | 'session' | 'field' | 'collection' | 'link' | 'role';
    id: string;
  };
  metadata?: Record<string, unknown>;
}

/** The columns of every event of this caller: actor, impersonator and token. */
function metadataOf(actor: SignedIn | null): Record<string, unknown> {
  return {
    ...(actor?.impersonator ? { impersonated_by: actor.impersonator } : {}),
    ...(actor?.token ? { token_id: actor.token.id } : {}),
  };
}

/** Writes an audit event in the transaction of the action; records an impersonator beside the actor. */
export async function recordEvent(tx: Tx, actor: SignedIn | null, event: AuditEvent): Promise<void> {
  await tx.insertInto('audit_events').values(rowOf(actor, event)).execute();
}

/** Events in one statement: PostgreSQL allows 65,535 parameters. */
const AT_ONCE = 5000;

/** Writes any number of events. */
export async function recordEvents(
  tx: Tx,
  actor: SignedIn | null,
  events: readonly AuditEvent[],
): Promise<void> {
  for (let at = 0; at < events.length; at += AT_ONCE) {
    const rows = events.slice(at, at + AT_ONCE).map((event) => rowOf(actor, event));
    await tx.insertInto('audit_events').values(rows).execute();
  }
}

function rowOf(actor: SignedIn | null, event: AuditEvent) {
  return {
    event: event.event,
    actor_user_ref: event.actorUserRef ?? actor?.ref ?? null,
    impersonator_user_ref: actor?.impersonator?.ref ?? null,
    subject_user_ref: event.subjectUserRef ?? null,
    target_kind: event.target?.kind ?? null,
    target_id: event.target?.id ?? null,
    metadata: JSON.stringify({ ...event.metadata, ...metadataOf(actor) }),
  };
}

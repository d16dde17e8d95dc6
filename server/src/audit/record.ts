import type { SignedIn } from '../access/caller.ts';
import type { Tx } from '../platform/database/pool.ts';

/** What happened, to whom and to what (AUDIT-1). */
export interface AuditEvent {
  event: string;
  /** Who did it, when that is not the caller: an administrator behind a mask. */
  actorUserRef?: number;
  subjectUserRef?: number;
  target?: {
    kind: 'post' | 'asset' | 'team' | 'token' | 'session' | 'field' | 'collection' | 'link';
    id: string;
  };
  metadata?: Record<string, unknown>;
}

/** What every event of this caller says: who acts in whose name, and by which token. */
function metadataOf(actor: SignedIn | null): Record<string, unknown> {
  return {
    ...(actor?.impersonator ? { impersonated_by: actor.impersonator } : {}),
    ...(actor?.token ? { token_id: actor.token.id } : {}),
  };
}

/** Writes an audit event in the transaction of the act itself; an impersonator is named beside the actor. */
export async function recordEvent(tx: Tx, actor: SignedIn | null, event: AuditEvent): Promise<void> {
  await tx.insertInto('audit_events').values(rowOf(actor, event)).execute();
}

/** Events in one statement. PostgreSQL takes 65,535 parameters: a caller bounds how many they are. */
export async function recordEvents(
  tx: Tx,
  actor: SignedIn | null,
  events: readonly AuditEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => rowOf(actor, event));
  await tx.insertInto('audit_events').values(rows).execute();
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

import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { bytes, operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Ref, Retention, Timestamp, Uuid } from './values.ts';

/**
 * IMPERSONATION-11. During an impersonation, `actor_user_ref` is the impersonated account and
 * `metadata.impersonated_by` names the administrator. Personal data in `metadata` needs users.pii.read.
 */
export const AuditEvent = closed({
  id: Uuid,
  event: Type.String(),
  actor_user_ref: nullable(Ref),
  actor: Type.Optional(PostAuthor),
  subject_user_ref: Type.Optional(Ref),
  subject: Type.Optional(PostAuthor),
  target_kind: Type.Optional(Type.String()),
  target_id: Type.Optional(Uuid),
  /** The title or name of the target; absent if it is deleted or the caller may not see it. */
  target_title: Type.Optional(Type.String()),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  occurred_at: Timestamp,
});
export type AuditEvent = Static<typeof AuditEvent>;

const filters = {
  actor: Type.Optional(Ref),
  subject: Type.Optional(Ref),
  event: Type.Optional(Type.String({ maxLength: 100 })),
  /** The first moment of the events, and the moment before which they are. */
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
};

export const listAudit = operation({
  id: 'listAudit',
  method: 'GET',
  path: '/admin/audit',
  tag: 'Audit',
  summary: 'List audit events',
  description:
    'Lists events, newest first. `event` may end in `*`. `from` is the first moment and `to` the one after the last. Personal data in `metadata` needs `users.pii.read`.',
  door: { holds: 'system.audit.read' },
  scope: 'read',
  query: closed({ ...pageQuery, ...filters }),
  responses: { 200: page(AuditEvent) },
  errors: [],
});
export type AuditQuery = Static<typeof listAudit.query>;

export const exportAudit = operation({
  id: 'exportAudit',
  method: 'GET',
  path: '/admin/audit/export',
  tag: 'Audit',
  summary: 'Export audit events',
  description: 'Returns all events that match the filters as a CSV file. The export is itself an event.',
  door: { holds: 'system.audit.read' },
  scope: 'read',
  query: closed(filters),
  responses: { 200: bytes('text/csv') },
  errors: ['malformed-cursor'],
});

export const getAuditRetention = operation({
  id: 'getAuditRetention',
  method: 'GET',
  path: '/admin/system/audit',
  tag: 'Audit',
  summary: 'Get the audit retention',
  description: 'Returns the number of days after which events are removed; null keeps them.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: Retention },
  errors: [],
});

export const setAuditRetention = operation({
  id: 'setAuditRetention',
  method: 'PUT',
  path: '/admin/system/audit',
  tag: 'Audit',
  summary: 'Set the audit retention',
  description: 'Events older than this are removed each night. Null keeps them.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { retention_days: 365 },
  body: Retention,
  worksWhenFull: true,
  responses: { 200: Retention },
  errors: [],
});

import { type Static, Type } from 'typebox';
import { type ActionShape, StartedBatch } from './batches.ts';
import { mostNamed } from './limits.ts';
import { operation } from './operation.ts';
import { listUsers, UserStatus } from './users.ts';
import { Count, closed, nullable, Ref, Timestamp, Uuid } from './values.ts';

/** BATCH-13: what can be done to many accounts. */
export const userActions = {
  set_status: { needs: ['status'], accepts: ['reason'] },
  set_role: { needs: [], accepts: ['role', 'role_id'] },
  add_to_team: { needs: ['team_id'], accepts: ['role'] },
  remove_from_team: { needs: ['team_id'] },
  set_expiry: { needs: ['expires_at'] },
  end_sessions: { needs: [] },
} as const satisfies Readonly<Record<string, ActionShape>>;
export type UserActionKind = keyof typeof userActions;

export const UserAction = closed({
  kind: Type.Enum(Object.keys(userActions) as UserActionKind[]),
  status: Type.Optional(UserStatus),
  reason: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  /** Of `set_role`: the code of a role, instead of `role_id`. Of `add_to_team`: the role in the team. */
  role: Type.Optional(Type.String({ maxLength: 100 })),
  role_id: Type.Optional(Uuid),
  team_id: Type.Optional(Uuid),
  /** Null: never. */
  expires_at: Type.Optional(nullable(Timestamp)),
});
export type UserAction = Static<typeof UserAction>;

const { limit: _limit, cursor: _cursor, ...filters } = listUsers.query.properties;

/** The accounts that match all of this, as in `GET /admin/users`. */
export const UserSelection = closed(filters);
export type UserSelection = Static<typeof UserSelection>;

/** BATCH-4: what a batch would do to accounts. */
export const UserBatchPreview = closed({
  matched: Count,
  changes: Count,
  unchanged: Count,
  refused: Type.Array(
    closed({ reason: Type.String(), count: Count, ids: Type.Array(Ref, { maxItems: 20 }) }),
  ),
});
export type UserBatchPreview = Static<typeof UserBatchPreview>;

export const batchUsers = operation({
  id: 'batchUsers',
  method: 'POST',
  path: '/admin/users/batch',
  tag: 'Users',
  summary: 'Change many accounts',
  description:
    'Does one action to the accounts named by `ids`, their refs, or matched by `query`, like `POST /assets/batch`. `query` needs `users.read`. Refuses accounts that hold a capability that the caller lacks, the caller’s own account, and what would leave no administrator. All but `end_sessions` can be undone.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  example: { ids: [7, 8], action: { kind: 'set_status', status: 'disabled' }, dry_run: true },
  body: closed({
    ids: Type.Optional(Type.Array(Ref, { minItems: 1, maxItems: mostNamed })),
    query: Type.Optional(UserSelection),
    action: UserAction,
    dry_run: Type.Optional(Type.Boolean()),
  }),
  responses: { 200: UserBatchPreview, 202: StartedBatch },
  errors: [
    'batch-action-ignores',
    'batch-action-lacks',
    'capability-not-held',
    'exclusive-properties',
    'ids-or-query',
    'not-found',
    'role-not-found',
    'team-rights-not-held',
    'time-in-the-past',
  ],
});

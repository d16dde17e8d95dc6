import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, nullable, Uuid } from './values.ts';

/** How many people must approve first, and of which team if given. */
export const RequiredApprovals = closed({
  required: Type.Integer({ minimum: 0, maximum: 10 }),
  team_id: Type.Optional(Uuid),
});

export const Approvals = closed({
  publish: RequiredApprovals,
  public_audience: RequiredApprovals,
  links: RequiredApprovals,
});
export type Approvals = Static<typeof Approvals>;

/** APPROVAL-5: why an act goes ahead without the approvals that it needs. */
export const OverrideReason = Type.Optional(
  nullable(Type.String({ minLength: 1, maxLength: 1000, pattern: '\\S' })),
);

/** The body of an act that has no other property. */
export const Override = closed({ override_reason: OverrideReason });

/** The errors of an act that may need approvals, by an operation for which no capability is needed otherwise. */
export const approvalErrors = ['approval-required', 'capability-missing'] as const;

export const getApprovals = operation({
  id: 'getApprovals',
  method: 'GET',
  path: '/admin/system/approvals',
  tag: 'Reviews',
  summary: 'Get the approvals that acts need',
  description: 'Returns how many approvals publishing, a public audience and links of posts need.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: Approvals },
  errors: [],
});

export const updateApprovals = operation({
  id: 'updateApprovals',
  method: 'PATCH',
  path: '/admin/system/approvals',
  tag: 'Reviews',
  summary: 'Change the approvals that acts need',
  description:
    'Replaces each of the three as a whole. With `team_id` only approvals by members of that team count. Applies to acts from now on; nothing is withdrawn.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { publish: { required: 2 } },
  body: closed({
    publish: Type.Optional(nullable(RequiredApprovals)),
    public_audience: Type.Optional(nullable(RequiredApprovals)),
    links: Type.Optional(nullable(RequiredApprovals)),
  }),
  responses: { 200: Approvals },
  errors: ['team-not-found'],
});

import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, nullable, Uuid } from './values.ts';

/** APPROVAL-1: the acts that may need approvals. */
export const gates = ['publish', 'public_audience', 'links'] as const;
export type Gate = (typeof gates)[number];

/** How many people must approve first, and of which team if given. */
const Gated = closed({
  required: Type.Integer({ minimum: 0, maximum: 10 }),
  team_id: Type.Optional(Uuid),
});

export const Approvals = closed({ publish: Gated, public_audience: Gated, links: Gated });
export type Approvals = Static<typeof Approvals>;

/** APPROVAL-5: why an act goes ahead without the approvals that it needs. */
export const OverrideReason = Type.Optional(
  nullable(Type.String({ minLength: 1, maxLength: 1000, pattern: '\\S' })),
);

/** The errors of an act that may need approvals. */
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
    publish: Type.Optional(nullable(Gated)),
    public_audience: Type.Optional(nullable(Gated)),
    links: Type.Optional(nullable(Gated)),
  }),
  responses: { 200: Approvals },
  errors: ['team-not-found'],
});

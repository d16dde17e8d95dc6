import { type Static, Type } from 'typebox';
import { capabilities } from './capabilities.ts';
import { operation } from './operation.ts';
import { closed, NameOnOneLine, nullable } from './values.ts';

/** The code of a state, unique in its domain. */
const StateCode = Type.String({ pattern: '^[a-z][a-z0-9_-]{0,39}$' });

/** WORKFLOW-1: a state, which states may follow it, and the capability that entering it needs. */
export const WorkflowRule = closed({
  domain: Type.Enum(['asset', 'post']),
  code: StateCode,
  label: NameOnOneLine,
  sort_order: Type.Integer({ minimum: 0, maximum: 1000 }),
  moves_to: Type.Array(StateCode, { maxItems: 50, uniqueItems: true }),
  capability: Type.Optional(Type.Enum([...capabilities])),
});
export type WorkflowRule = Static<typeof WorkflowRule>;

export const Workflow = closed({
  states: Type.Array(WorkflowRule),
  /** Whether a new version of a file or a change of members ends the decisions about a post. */
  reopen_on_change: Type.Boolean(),
});

export const getWorkflow = operation({
  id: 'getWorkflow',
  method: 'GET',
  path: '/admin/system/workflow',
  tag: 'Reviews',
  summary: 'Get the workflow',
  description: 'Returns the states of assets and posts with the moves between them, in order.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: Workflow },
  errors: [],
});

export const updateWorkflow = operation({
  id: 'updateWorkflow',
  method: 'PATCH',
  path: '/admin/system/workflow',
  tag: 'Reviews',
  summary: 'Change the workflow',
  description:
    '`states` replaces the list of states. The seeded states stay, posts have no others, and a state that assets have is not removed: 409. A state of assets may be added.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { reopen_on_change: false },
  body: closed({
    states: Type.Optional(nullable(Type.Array(WorkflowRule, { minItems: 1, maxItems: 50 }))),
    reopen_on_change: Type.Optional(nullable(Type.Boolean())),
  }),
  responses: { 200: Workflow },
  errors: ['state-in-use', 'state-moves-unknown', 'state-repeated', 'state-seeded', 'states-of-posts-fixed'],
});

import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, nullable, Timestamp } from './values.ts';

/** The result of one check. */
export const Check = closed({
  code: Type.String(),
  title: Type.String(),
  /** `problem`: something does not work or data will be lost. `warning`: this may happen later. */
  status: Type.Enum(['ok', 'warning', 'problem']),
  detail: Type.String(),
  /** How to fix it; null when no action is needed. */
  remedy: nullable(Type.String()),
});
export type Check = Static<typeof Check>;

export const getDoctor = operation({
  id: 'getDoctor',
  method: 'GET',
  path: '/admin/system/doctor',
  tag: 'System',
  summary: 'Check the installation',
  description: 'Reports what is wrong and what to do about it. `vitrine doctor` reports the same.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: closed({ examined_at: Timestamp, checks: Type.Array(Check) }) },
  errors: [],
});

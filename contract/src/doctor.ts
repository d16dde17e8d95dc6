import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, nullable, Timestamp } from './values.ts';

/** One thing the doctor looked at. */
export const Check = closed({
  code: Type.String(),
  title: Type.String(),
  /** `problem`: something does not work, or will be lost; `warning`: it may come to that. */
  status: Type.Enum(['ok', 'warning', 'problem']),
  detail: Type.String(),
  /** What to do about it; null when nothing is to be done. */
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

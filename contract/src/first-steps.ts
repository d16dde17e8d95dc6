import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { closed } from './values.ts';

/** SETUP-6: what a new library needs, and then what a new account needs. */
export const firstSteps = [
  'people',
  'fields',
  'look',
  'mail',
  'backup',
  'picture',
  'upload',
  'follow',
] as const;

const FirstStep = Type.Enum(firstSteps);
export type FirstStep = Static<typeof FirstStep>;

export const getFirstSteps = operation({
  id: 'getFirstSteps',
  method: 'GET',
  path: '/account/first-steps',
  tag: 'Account',
  summary: 'Get the first steps',
  description:
    'Returns the steps with which the caller may begin and whether each is done: for administrators, to invite `people`, to adjust the `fields` and the `look`, and to set up `mail` and the first `backup`; for everyone, to choose a `picture`, to `upload` and to `follow`. Empty for an account that is older than 30 days in a library with published posts.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ steps: Type.Array(closed({ step: FirstStep, done: Type.Boolean() })) }) },
  errors: [],
});

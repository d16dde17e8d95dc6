import { type Static, Type } from 'typebox';
import { closed } from './values.ts';

/** LEGACY-1: the system that something was imported from, and its id there. */
export const Legacy = closed({ system: Type.String(), id: Type.String() });
export type Legacy = Static<typeof Legacy>;

import type { FieldType } from '@vitrine/contract/field-types';
import type { Extracted } from '../fields/types/field-type.ts';
import { rulesOf } from '../fields/types/registry.ts';

/** Returns what a file offers to a field of this type; nothing where the types do not match. */
export function offerFor(type: FieldType, found: Extracted): Extracted | undefined {
  const { extraction } = rulesOf[type];
  if (extraction.from === 'nothing') return undefined;
  return extraction.from === 'single' ? extraction.offer(found) : found;
}

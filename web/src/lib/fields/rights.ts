import { CallError } from '@vitrine/contract/client';
import type { FieldDefinition } from '@vitrine/contract/fields';
import type { SessionUser } from '@vitrine/contract/identity';
import { holdsIn, type TeamCapabilities } from '#lib/identity/allowance.ts';
import { problemText } from '#lib/problems.ts';

type Guarded = Pick<FieldDefinition, 'read_only' | 'write_capability' | 'status' | 'code'>;

/** Why a form shows a field as read-only. The service checks again. */
export interface ReadOnly {
  readonly reason: string;
  /** Whether its value may still be cleared. */
  readonly clearable: boolean;
}

/** Explains why a user who may change the asset cannot change this field; undefined if they can. */
export function whyReadOnly(
  field: Guarded,
  user: SessionUser | null,
  { teamId, held }: { teamId?: string | undefined; held?: TeamCapabilities | undefined } = {},
): ReadOnly | undefined {
  if (field.read_only)
    return { reason: 'Read-only: the library fills it in automatically.', clearable: false };
  if (field.write_capability !== null && !holdsIn(user, held, field.write_capability, teamId))
    return {
      reason: `Changing it requires the capability ${field.write_capability}.`,
      clearable: false,
    };
  if (field.status === 'deprecated')
    return { reason: 'This field is deprecated and accepts no new values.', clearable: true };
  return undefined;
}

/** Returns the text of an error about a field, with its label in place of its code. */
export function refusalInWords(
  { code, label }: Pick<FieldDefinition, 'code' | 'label'>,
  error: unknown,
): string {
  if (!(error instanceof CallError) || error.params?.property !== code) return problemText(error);
  if (error.code === 'value-not-matching')
    return `${label} does not match the pattern ${error.params.pattern ?? ''}`;
  // The texts of most codes about a field begin with it.
  const { message } = error;
  return message.startsWith(code) ? `${label}${message.slice(code.length)}.` : problemText(error);
}

import type { FieldDefinition } from '@vitrine/contract/fields';
import type { SessionUser } from '@vitrine/contract/identity';
import { holdsIn, type TeamCapabilities } from '#lib/identity/allowance.ts';

type Guarded = Pick<FieldDefinition, 'read_only' | 'write_capability' | 'status' | 'code'>;

/** Why a form shows a field but does not let it be changed. The service decides again. */
export interface ReadOnly {
  readonly reason: string;
  /** Whether its value may be taken away all the same. */
  readonly clearable: boolean;
}

/** Why somebody who may change the asset cannot change this field of it; undefined when they can. */
export function whyReadOnly(
  field: Guarded,
  user: SessionUser | null,
  { teamId, held }: { teamId?: string | undefined; held?: TeamCapabilities | undefined } = {},
): ReadOnly | undefined {
  if (field.read_only) return { reason: 'Read-only: the library fills it in by itself.', clearable: false };
  if (field.write_capability !== null && !holdsIn(user, held, field.write_capability, teamId))
    return {
      reason: `Your account may not change it: that takes ${field.write_capability}.`,
      clearable: false,
    };
  if (field.status === 'deprecated')
    return { reason: 'This field is going out of use and takes no new values.', clearable: true };
  return undefined;
}

/** A refusal with the name people know in place of the code that programs know. */
export function refusalInWords(
  { code, label }: Pick<FieldDefinition, 'code' | 'label'>,
  text: string,
): string {
  const rest = text.toLowerCase().startsWith(code) ? text.slice(code.length) : undefined;
  const named = rest !== undefined && /^\W/.test(rest) ? `${label}${rest}` : text;
  return named.replace(/ does not match (.*?)\.?$/s, ' does not fit the pattern $1');
}

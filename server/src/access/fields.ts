import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, teamsWith } from './caller.ts';

/** Who is shown which definition, as a row of `fields d`. Whose values: field-values.ts. */
type Predicate = RawBuilder<boolean>;

/**
 * Definitions the caller may know of: those whose values they may read somewhere, and without archived ones. Who
 * configures fields is shown all of them, which is not to be shown their values.
 */
export function shownDefinitions(caller: Caller): Predicate {
  if (holds(caller, 'fields.admin')) return sql`true`;
  if (caller.kind === 'anonymous') return sql`(d.status <> 'archived' and d.read_capability is null)`;
  const held = [...caller.capabilities, ...caller.teamCapabilities.keys()];
  return sql`(d.status <> 'archived' and (d.read_capability is null or d.read_capability = any(${held}::text[])))`;
}

/** Whether the caller may add a term to an open vocabulary by naming it (choices, capabilities). */
export function mayExtendVocabularies(caller: Caller): boolean {
  return (
    holds(caller, 'fields.vocabulary.extend') || teamsWith(caller, 'fields.vocabulary.extend').length > 0
  );
}

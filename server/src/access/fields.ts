import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, teamsWith } from './caller.ts';

/** Who is shown which definition, as a row of `fields d`. Whose values: field-values.ts. */
type Predicate = RawBuilder<boolean>;

/** Definitions that a `read_capability` keeps from the caller, so that not even their code and terms are told. */
export function gatedDefinitions(caller: Caller): Predicate {
  if (holds(caller, 'fields.admin')) return sql`false`;
  if (caller.kind === 'anonymous') return sql`(d.read_capability is not null)`;
  const held = [...caller.capabilities, ...caller.teamCapabilities.keys()];
  return sql`(d.read_capability is not null and d.read_capability <> all(${held}::text[]))`;
}

/**
 * Definitions the caller may know of: those whose values they may read somewhere, and without archived ones. Who
 * configures fields is shown all of them, which is not to be shown their values.
 */
export function shownDefinitions(caller: Caller): Predicate {
  if (holds(caller, 'fields.admin')) return sql`true`;
  return sql`(d.status <> 'archived' and not ${gatedDefinitions(caller)})`;
}

/** Whether the caller may add a term to an open vocabulary by naming it (TERM-9). */
export function mayExtendVocabularies(caller: Caller): boolean {
  return (
    holds(caller, 'fields.vocabulary.extend') || teamsWith(caller, 'fields.vocabulary.extend').length > 0
  );
}

import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, teamsWith } from './caller.ts';

/** Who is shown which definition `fields d`. For values see field-values.ts. */
type Predicate = RawBuilder<boolean>;

/** Definitions that `read_capability` hides from the caller, including their code and terms. */
export function gatedDefinitions(caller: Caller): Predicate {
  if (holds(caller, 'fields.admin')) return sql`false`;
  if (caller.kind === 'anonymous') return sql`(d.read_capability is not null)`;
  const held = [...caller.capabilities, ...caller.teamCapabilities.keys()];
  return sql`(d.read_capability is not null and d.read_capability <> all(${held}::text[]))`;
}

/**
 * Definitions that the caller may know of: those whose values they may read somewhere, without archived ones. Callers
 * who configure fields see all definitions, but not their values.
 */
export function shownDefinitions(caller: Caller): Predicate {
  if (holds(caller, 'fields.admin')) return sql`true`;
  return sql`(d.status <> 'archived' and not ${gatedDefinitions(caller)})`;
}

/** Whether the caller may add a term to an open vocabulary by using it (TERM-9). */
export function mayExtendVocabularies(caller: Caller): boolean {
  return (
    holds(caller, 'fields.vocabulary.extend') || teamsWith(caller, 'fields.vocabulary.extend').length > 0
  );
}

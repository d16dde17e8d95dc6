import { createQuery } from '@tanstack/svelte-query';
import type { FieldDefinition } from '@vitrine/contract/fields';
import type { Term } from '@vitrine/contract/vocabulary';
import { getService } from '#lib/service.ts';
import { offeredTermsQuery } from './queries.ts';
import { termsIn } from './terms.ts';

/** The term to find. */
interface Wanted {
  readonly field: FieldDefinition | undefined;
  readonly value: string;
  /** Whether to ask the service for a term that the definition does not contain. */
  readonly asks: boolean;
}

/**
 * Finds a term by its slug. The definition does not contain all terms of a long vocabulary, so the service is asked for
 * the others. `term` is undefined until it is found.
 */
export function findTerm(wanted: () => Wanted): { readonly term: Pick<Term, 'label' | 'path'> | undefined } {
  const service = getService();
  const carried = $derived.by(() => {
    const { field, value } = wanted();
    return field === undefined ? undefined : termsIn(field).find((term) => term.value === value);
  });
  const answer = createQuery(() => {
    const { field, value, asks } = wanted();
    return {
      ...offeredTermsQuery(service, field?.id ?? '', value, 10),
      enabled: field !== undefined && asks && carried === undefined,
    };
  });
  return {
    get term() {
      return carried ?? answer.data?.values.find((term) => term.value === wanted().value);
    },
  };
}

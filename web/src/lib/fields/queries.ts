import { queryOptions } from '@tanstack/svelte-query';
import type { SubjectKind } from '@vitrine/contract/fields';
import { readToEnd } from '../paging.ts';
import type { Service } from '../service.ts';

/** Definitions in use for assets of a type, or for all of a kind, in display order. */
export function fieldsQuery({ client }: Service, kind: SubjectKind, assetType?: number) {
  return queryOptions({
    queryKey: ['fields', kind, assetType ?? 'all'],
    queryFn: ({ signal }) =>
      readToEnd((turn) =>
        client.call('listFields', {
          query: {
            ...turn,
            subject_kind: kind,
            ...(assetType === undefined ? {} : { asset_type: assetType }),
          },
          signal,
        }),
      ),
    select: (fields) => fields.filter(({ status }) => status !== 'archived'),
  });
}

/** Terms of a vocabulary that fit what was typed, the best first. */
export function offeredTermsQuery({ client }: Service, fieldId: string, q: string, limit: number) {
  return queryOptions({
    queryKey: ['field', fieldId, 'offered', q, limit],
    queryFn: ({ signal }) =>
      client.call('listFieldValues', {
        params: { id: fieldId },
        query: { limit, ...(q === '' ? {} : { q, match: 'substring' }) },
        signal,
      }),
  });
}

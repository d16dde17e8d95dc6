import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** The query: a file of the visitor, or an asset of the library. */
export type ImageCriteria =
  | { readonly file: File; readonly assetId?: undefined }
  | { readonly file?: undefined; readonly assetId: string };

let asked = 0;
const numbers = new WeakMap<File, number>();

/** Files have no unique name for the cache key. */
function numberOf(file: File): number {
  const known = numbers.get(file) ?? ++asked;
  numbers.set(file, known);
  return known;
}

/** Finds similar pictures, nearest first. */
export function likeQuery({ client }: Service, criteria: ImageCriteria) {
  const { file, assetId } = criteria;
  return queryOptions({
    queryKey: ['like', assetId ?? numberOf(file)],
    queryFn: ({ signal }) => {
      if (assetId !== undefined) {
        return client.call('searchByImage', { body: { asset_id: assetId, limit: 60 }, signal });
      }
      const body = new FormData();
      body.append('limit', '60');
      body.append('file', file, file.name);
      return client.call('searchByImage', { body, signal });
    },
  });
}

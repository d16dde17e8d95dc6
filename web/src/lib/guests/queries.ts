import { infiniteQueryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Returns the query keys of the lists that guests of a link change; without `link`, of all links. */
export function guestLists(link?: string): string[][] {
  return ['guests', 'feedback', 'picks'].map((list) => [
    'links',
    list,
    ...(link === undefined ? [] : [link]),
  ]);
}

/** What guests did at a link, for the editors of its target. Never cached, because guests change it. */
export function guestsQuery({ client }: Service, link: string) {
  return infiniteQueryOptions({
    queryKey: ['links', 'guests', link],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listLinkGuests', { params: { link }, query: pageParams(pageParam), signal }),
  });
}

export function feedbackQuery({ client }: Service, link: string) {
  return infiniteQueryOptions({
    queryKey: ['links', 'feedback', link],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listLinkFeedback', { params: { link }, query: pageParams(pageParam), signal }),
  });
}

export function picksQuery({ client }: Service, link: string) {
  return infiniteQueryOptions({
    queryKey: ['links', 'picks', link],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listLinkPicks', { params: { link }, query: pageParams(pageParam), signal }),
  });
}

/** Returns the ids of the files that guests picked and that the reader may see, each once. */
export async function readPickedIds({ client }: Service, link: string): Promise<string[]> {
  const picks = await readToEnd((query) => client.call('listLinkPicks', { params: { link }, query }));
  return [...new Set(picks.flatMap(({ asset_id, title }) => (title === null ? [] : [asset_id])))];
}

export async function muteGuest(
  { client, queries }: Service,
  link: string,
  guest_id: string,
  muted: boolean,
) {
  await client.call('updateLinkGuest', { params: { link, guest_id }, body: { muted } });
  await queries.invalidateQueries({ queryKey: ['links', 'guests', link] });
}

export async function removeFeedback({ client, queries }: Service, link: string, id: string) {
  await client.call('deleteComment', { params: { id } });
  await queries.invalidateQueries({ queryKey: ['links', 'feedback', link] });
}

/** Returns the address of a list as CSV, with the mark without which Excel reads another encoding. */
export function csvAddress(link: string, list: 'feedback' | 'picks' | 'views'): string {
  return `/api/v1/links/${link}/${list}.csv?bom=true`;
}

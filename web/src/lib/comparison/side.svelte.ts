import { createInfiniteQuery, createQuery } from '@tanstack/svelte-query';
import type { AssetVersion } from '@vitrine/contract/versions';
import { type Mark, marksOf } from '#lib/annotations/mark.ts';
import { annotationsQuery } from '#lib/annotations/queries.ts';
import { mayChange } from '#lib/assets/sensitivity.ts';
import type { GuestVisit } from '#lib/guests/guest.svelte.ts';
import { guestAnnotations } from '#lib/guests/places.ts';
import type { Service } from '#lib/service.ts';
import { versionsQuery } from '#lib/versions/queries.ts';
import type { ViewerItem, ViewerMedia, ViewerSource } from '#lib/viewer/item.ts';
import { mediaQuery } from '#lib/viewer/media.ts';
import type { Size } from './compare.ts';

/** One of the two files that are compared, in one of its versions. */
export interface Side {
  /** The id of the file. */
  id: string;
  /** The number of the version; undefined is the current one. */
  number: number | undefined;
  readonly item: ViewerItem | undefined;
  readonly media: ViewerMedia | undefined;
  /** All versions, newest first; empty for those who may not see them. */
  readonly versions: readonly AssetVersion[];
  /** Whether the versions are being read. */
  readonly isPending: boolean;
  /** The version that is shown; undefined if only the current one may be. */
  readonly version: AssetVersion | undefined;
  /** Its number, as far as it is known. */
  readonly shownNumber: number | undefined;
  /** The annotations of all versions, with the numbers that they have in the viewer. */
  readonly marks: readonly Mark[];
  /** The size of what is shown; undefined until it is loaded. */
  size: Size | undefined;
}

/** Versions are shown to those who may edit the file (VERSION-3), at its library. */
function hasVersions(item: ViewerItem | undefined): boolean {
  return item?.asset !== undefined && mayChange(item.asset);
}

/** Creates one side of a comparison. Called while a component is created. */
export function createSide(
  service: Service,
  {
    files,
    source,
    guests,
    enabled,
  }: {
    files: () => readonly ViewerItem[];
    source: () => ViewerSource;
    /** What guests write about the files of a link. */
    guests: () => GuestVisit | undefined;
    enabled: () => boolean;
  },
): Side {
  let id = $state('');
  let number = $state<number>();
  let size = $state.raw<Size>();
  const item = $derived(files().find((file) => file.id === id));
  const media = createQuery(() => {
    const query = mediaQuery(source(), item);
    return { ...query, enabled: enabled() && item !== undefined };
  });
  const versions = createQuery(() => {
    const query = versionsQuery(service, { id, updated_at: item?.asset?.updated_at ?? '' });
    return {
      ...query,
      // Versions of another file refer to other bytes. Those of this file stay during a refetch, so that its film does
      // not restart whenever the file changes, for example while it is being prepared.
      placeholderData: (before, earlier) => (earlier?.queryKey[1] === id ? before : undefined),
      enabled: enabled() && hasVersions(item),
    };
  });
  const list = createInfiniteQuery(() => {
    const file =
      enabled() && guests() === undefined && item?.postId !== undefined
        ? { postId: item.postId, assetId: item.id }
        : undefined;
    return annotationsQuery(service, file);
  });
  $effect(() => {
    if (list.hasNextPage && !list.isFetching && !list.isError) void list.fetchNextPage();
  });
  const all = $derived(hasVersions(item) ? (versions.data ?? []) : []);
  const version = $derived(
    all.find((one) => (number === undefined ? one.current : one.number === number)) ??
      all.find(({ current }) => current),
  );
  const comments = $derived.by(() => {
    const visit = guests();
    if (visit !== undefined) return guestAnnotations(visit.comments, id);
    return list.data?.pages.flatMap((page) => page.items) ?? [];
  });
  const marks = $derived(marksOf(comments, media.data?.version));

  return {
    get id() {
      return id;
    },
    set id(chosen) {
      if (chosen === id) return;
      id = chosen;
      number = undefined;
      size = undefined;
    },
    get number() {
      return number;
    },
    set number(chosen) {
      number = chosen;
    },
    get item() {
      return item;
    },
    get media() {
      return item === undefined ? undefined : media.data;
    },
    get versions() {
      return all;
    },
    get isPending() {
      return hasVersions(item) && versions.isPending;
    },
    get version() {
      return version;
    },
    get shownNumber() {
      return version?.number ?? media.data?.version;
    },
    get marks() {
      return marks;
    },
    get size() {
      return size;
    },
    set size(read) {
      size = read;
    },
  };
}

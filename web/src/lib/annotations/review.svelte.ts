import { createInfiniteQuery } from '@tanstack/svelte-query';
import type { Anchor } from '@vitrine/contract/annotations';
import { untrack } from 'svelte';
import type { Sketch } from '#lib/drawing/sketch.svelte.ts';
import type { GuestVisit } from '#lib/guests/guest.svelte.ts';
import { guestAnnotations } from '#lib/guests/places.ts';
import type { Service } from '#lib/service.ts';
import { anchorAround, anchorAt, type Drawn } from './anchor.ts';
import { type Mark, marksOf } from './mark.ts';
import { annotationsQuery } from './queries.ts';

/** The file in the viewer, if readers may comment on places in it. */
export interface ReviewedFile {
  readonly postId: string;
  readonly assetId: string;
  /** The number of the version that is shown; undefined while unknown. */
  readonly version: number | undefined;
}

/** The file in the viewer of a link, whose guests comment on places in it. */
export interface GuestFile {
  readonly assetId: string;
  readonly visit: GuestVisit;
}

/** Which annotations are shown. */
interface ReviewFilter {
  mine: boolean;
  assigned: boolean;
  open: boolean;
  /** Whether those of earlier versions are drawn over the current one. */
  earlier: boolean;
}

/** The review of the file in the viewer: its annotations, the new comment, and what is selected. */
export interface Review {
  /** Whether the panel is shown. */
  isOpen: boolean;
  /** The place of the comment that is being written. */
  draft: Anchor | undefined;
  /** Whether dragging draws a free shape instead of a rectangle. */
  free: boolean;
  /** What is drawn for new comments; undefined until somebody draws. */
  sketch: Sketch | undefined;
  /** What the new comment is about: its drawing says where it is, unless an area was marked. */
  readonly target: Anchor | undefined;
  readonly filter: ReviewFilter;
  readonly selectedId: string | undefined;
  /** All loaded annotations of the file, in its order. */
  readonly marks: readonly Mark[];
  /** Those that the filter lets through. */
  readonly listed: readonly Mark[];
  /** Those that are drawn on the file. */
  readonly drawn: readonly Mark[];
  readonly state: 'loading' | 'failed' | 'ready';
  /** Whether there are further annotations, which `loadMore` reads. */
  readonly hasMore: boolean;
  loadMore(): void;
  /** Moves the new comment to what was drawn on the picture. */
  place(drawn: Drawn): void;
  /** Selects an annotation, shows its place and opens the panel; undefined selects none. */
  select(id: string | undefined): void;
  /** Selects the one after or before the selected one. */
  step(by: 1 | -1): void;
}

/** The number of annotations that are loaded without being asked for. */
const loadedAtOnce = 1000;

/**
 * Creates the review of the file that `file` returns, for the user with this ref. `show` shows a place in the stage.
 * Called while a component is created.
 */
export function createReview(
  service: Service,
  file: () => ReviewedFile | undefined,
  {
    show,
    userRef,
    guestFile = () => undefined,
  }: {
    show: (anchor: Anchor) => void;
    userRef: () => number | undefined;
    /** The file behind a link, in place of the other. */
    guestFile?: () => GuestFile | undefined;
  },
): Review {
  let isOpen = $state(false);
  let draft = $state.raw<Anchor>();
  let free = $state(false);
  let sketch = $state.raw<Sketch>();
  const target = $derived(
    draft === undefined ? undefined : anchorAround(draft, sketch?.drawing.strokes ?? []),
  );
  let selectedId = $state<string>();
  const filter = $state<ReviewFilter>({ mine: false, assigned: false, open: false, earlier: false });
  const list = createInfiniteQuery(() => annotationsQuery(service, file()));

  const comments = $derived.by(() => {
    const guests = guestFile();
    if (guests !== undefined) return guestAnnotations(guests.visit.comments, guests.assetId);
    return list.data?.pages.flatMap((page) => page.items) ?? [];
  });
  const marks = $derived(marksOf(comments, file()?.version));
  const listed = $derived(
    marks.filter(
      ({ comment }) =>
        (!filter.open || comment.resolved_at === undefined) &&
        (!filter.mine || comment.author?.ref === userRef()) &&
        (!filter.assigned || comment.assignee?.ref === userRef()),
    ),
  );
  const drawn = $derived(listed.filter(({ isEarlier }) => filter.earlier || !isEarlier));

  $effect(() => {
    if (list.hasNextPage && !list.isFetching && !list.isError && marks.length < loadedAtOnce)
      void list.fetchNextPage();
  });

  $effect(() => {
    const visit = guestFile()?.visit;
    if (visit?.more !== true || visit.busy || visit.problem !== undefined) return;
    if (visit.comments.length < loadedAtOnce) void untrack(() => visit.read(true));
  });

  // Another file has other annotations.
  let shownId: string | undefined;
  $effect(() => {
    const id = file()?.assetId ?? guestFile()?.assetId;
    if (id === shownId) return;
    shownId = id;
    untrack(forgetDraft);
    selectedId = undefined;
  });

  function forgetDraft() {
    draft = undefined;
    sketch?.reset();
  }

  function select(id: string | undefined) {
    selectedId = id;
    const mark = marks.find(({ comment }) => comment.id === id);
    if (mark === undefined) return;
    isOpen = true;
    show(mark.comment.annotation.anchor);
  }

  return {
    get isOpen() {
      return isOpen;
    },
    set isOpen(open) {
      isOpen = open;
      if (!open) forgetDraft();
    },
    get draft() {
      return draft;
    },
    set draft(anchor) {
      if (anchor === undefined) {
        forgetDraft();
        return;
      }
      draft = anchor;
      isOpen = true;
    },
    get free() {
      return free;
    },
    set free(on) {
      free = on;
    },
    get sketch() {
      return sketch;
    },
    set sketch(created) {
      sketch = created;
    },
    get target() {
      return target;
    },
    filter,
    get selectedId() {
      return selectedId;
    },
    get marks() {
      return marks;
    },
    get listed() {
      return listed;
    },
    get drawn() {
      return drawn;
    },
    get state() {
      if (list.data !== undefined || guestFile() !== undefined) return 'ready';
      return list.isError ? 'failed' : 'loading';
    },
    get hasMore() {
      return list.hasNextPage;
    },
    loadMore: () => void (list.data === undefined ? list.refetch() : list.fetchNextPage()),
    place(drawn) {
      if (draft !== undefined) draft = anchorAt(draft, drawn);
    },
    select,
    step(by) {
      const at = listed.findIndex(({ comment }) => comment.id === selectedId);
      const next = at < 0 ? (by === 1 ? 0 : listed.length - 1) : at + by;
      const mark = listed[next];
      if (mark !== undefined) select(mark.comment.id);
    },
  };
}

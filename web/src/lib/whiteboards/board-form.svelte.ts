import { CallError } from '@vitrine/contract/client';
import type { Stroke } from '@vitrine/contract/strokes';
import type { Whiteboard } from '@vitrine/contract/whiteboards';
import { createDrawing, type Drawing } from '#lib/drawing/drawing.svelte.ts';
import type { Service } from '#lib/service.ts';
import { createServiceMutation } from '#lib/service-mutation.svelte.ts';

/** A whiteboard that is being drawn. */
export interface BoardForm {
  readonly drawing: Drawing;
  title: string;
  readonly stored: Whiteboard | undefined;
  /** What is edited; another object after each change. */
  readonly edit: { readonly title: string; readonly strokes: readonly Stroke[] };
  readonly isDirty: boolean;
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** What was stored in another window since; the user decides which state stays. */
  readonly newer: Whiteboard | undefined;
  save(): Promise<boolean>;
  keepMine(): Promise<boolean>;
  loadTheirs(): void;
  /** Continues drawing without a decision. */
  postpone(): void;
}

/** Creates the form of a stored whiteboard, or of one that is stored with its first stroke. */
export function createBoardForm(
  service: Service,
  postId: string,
  start: Whiteboard | undefined,
  oncreated: (made: Whiteboard) => void,
): BoardForm {
  const { client, queries } = service;
  const mutation = createServiceMutation(service);
  const drawing = createDrawing(start?.strokes);
  let stored = $state.raw(start);
  let title = $state(start?.title ?? '');
  /** The strokes as they were sent last, to compare by identity. */
  let kept = $state.raw<readonly Stroke[]>(drawing.strokes);
  let newer = $state.raw<Whiteboard>();

  const edit = $derived({ title, strokes: drawing.strokes });
  const isDirty = $derived(title !== (stored?.title ?? '') || drawing.strokes !== kept);

  async function send(since: string | undefined): Promise<void> {
    const strokes = drawing.strokes;
    const body = { title, strokes: [...strokes] };
    const isNew = stored === undefined;
    const answer =
      stored === undefined || since === undefined
        ? await client.call('createWhiteboard', { params: { id: postId }, body })
        : await client.call('updateWhiteboard', {
            params: { id: stored.id },
            body: { ...body, if_unchanged_since: since },
          });
    stored = answer;
    kept = strokes;
    queries.setQueryData(['whiteboard', answer.id], answer);
    void queries.invalidateQueries({ queryKey: ['whiteboards', postId] });
    if (isNew) oncreated(answer);
  }

  async function store(since: string | undefined): Promise<boolean> {
    let isStored = false;
    const isSent = await mutation.run(async () => {
      try {
        await send(since);
        isStored = true;
      } catch (error) {
        if (!(error instanceof CallError) || error.code !== 'changed' || stored === undefined) throw error;
        newer = await client.call('getWhiteboard', { params: { id: stored.id } });
      }
    });
    return isSent && isStored;
  }

  return {
    drawing,
    get title() {
      return title;
    },
    set title(typed) {
      title = typed;
    },
    get stored() {
      return stored;
    },
    get edit() {
      return edit;
    },
    get isDirty() {
      return isDirty;
    },
    get busy() {
      return mutation.busy;
    },
    get problem() {
      return mutation.problem;
    },
    get newer() {
      return newer;
    },
    save: () => store(stored?.updated_at),
    keepMine() {
      const theirs = newer;
      newer = undefined;
      return store(theirs?.updated_at);
    },
    loadTheirs() {
      const theirs = newer;
      newer = undefined;
      mutation.forget();
      if (theirs === undefined) return;
      stored = theirs;
      title = theirs.title;
      drawing.replace(theirs.strokes);
      kept = drawing.strokes;
    },
    postpone() {
      newer = undefined;
    },
  };
}

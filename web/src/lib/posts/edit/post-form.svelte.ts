import type { ShownAsset } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import type { Post, PostMember, PostUpdate } from '@vitrine/contract/posts';
import { forgetFeeds, putPost } from '#lib/posts/queries.ts';
import type { Service } from '#lib/service.ts';
import { createServiceMutation } from '#lib/service-mutation.svelte.ts';
import { draftOf, editOf, isEmptyPatch, isPlain, newEdit, type PostEdit, patchOf } from './post-edit.ts';

/** What a form starts with. */
export interface FormStart {
  /** The stored post; absent for a new one, which is stored as a draft with its first file. */
  readonly post?: Post | undefined;
  /** What differs from the stored post, or from an empty form. */
  readonly edit?: Partial<PostEdit> | undefined;
  /** Members of `edit` that the stored post does not have. */
  readonly assets?: readonly ShownAsset[] | undefined;
  /** Called in the run that has created the post. */
  readonly oncreated?: (post: Post) => Promise<unknown>;
}

/** The state of a form of a post, and what it sends. Requests run one after the other. */
export interface PostForm {
  readonly base: Post | undefined;
  readonly edit: PostEdit;
  readonly members: readonly PostMember[];
  /** Whether the form differs from the stored post. */
  readonly isDirty: boolean;
  readonly isSaved: boolean;
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** The error behind the problem. */
  readonly error: unknown;
  /** What was stored by somebody else since; the user decides which state stays. */
  readonly newer: Post | undefined;
  change(part: Partial<PostEdit>): void;
  /** Shows these assets in their present state. */
  learn(assets: readonly ShownAsset[]): void;
  add(assets: readonly ShownAsset[]): void;
  /**
   * Stores the form; true if the stored post is as in the form. With a reason without the approvals that a wider audience
   * needs.
   */
  save(overrideReason?: string): Promise<boolean>;
  /** Stores the form, and then sends a change of something else. */
  saveWith(patch: PostUpdate): Promise<boolean>;
  /** Stores the form, and then publishes or withdraws the post; with a reason without the approvals that it needs. */
  move(way: 'publishPost' | 'unpublishPost', overrideReason?: string): Promise<boolean>;
  /** Deletes the stored draft and keeps the text of the form; true if there is none any more. */
  removeDraft(): Promise<boolean>;
  keepMine(): Promise<boolean>;
  loadTheirs(): void;
  /** Continues editing without a decision. */
  postpone(): void;
  /** Resolves when everything that is being sent now has been answered. */
  settled(): Promise<void>;
}

export function createPostForm(service: Service, start: FormStart): PostForm {
  const { client, queries } = service;
  const mutation = createServiceMutation(service);
  const memberOf = (asset: ShownAsset): [string, PostMember] => [
    asset.id,
    { asset_id: asset.id, sort_order: 0, restricted: false, asset },
  ];

  let base = $state.raw(start.post);
  let edit = $state.raw<PostEdit>({
    ...(start.post === undefined ? newEdit : editOf(start.post)),
    ...start.edit,
  });
  // Replaced as a whole, so it need not be reactive itself.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  let known = $state.raw<ReadonlyMap<string, PostMember>>(new Map((start.assets ?? []).map(memberOf)));
  let newer = $state.raw<Post>();
  let saved = $state(false);

  const members = $derived(
    edit.members.flatMap((id): PostMember[] => {
      const member = known.get(id) ?? base?.members.find((member) => member.asset_id === id);
      return member === undefined ? [] : [member];
    }),
  );
  const isDirty = $derived(
    edit.members.length > 0 && (base === undefined || !isEmptyPatch(patchOf(base, edit))),
  );

  function change(part: Partial<PostEdit>) {
    edit = { ...edit, ...part };
    saved = false;
  }

  function learn(assets: readonly ShownAsset[]) {
    // eslint-disable-next-line svelte/prefer-svelte-reactivity
    known = new Map([...known, ...assets.map(memberOf)]);
    const ids = assets.map(({ id }) => id);
    const plain = assets.filter(isPlain).map(({ id }) => id);
    edit = { ...edit, plain: [...edit.plain.filter((id) => !ids.includes(id)), ...plain] };
  }

  function take(answer: Post, sent: PostEdit) {
    base = answer;
    // Keeps what was typed during the request, and the spaces at the end of what is being typed.
    if (edit === sent) {
      const stored = editOf(answer);
      const asTyped = (typed: string, kept: string) => (typed.trim() === kept ? typed : kept);
      edit = {
        ...stored,
        title: asTyped(edit.title, stored.title),
        description: asTyped(edit.description, stored.description),
      };
    }
    putPost(queries, answer);
  }

  async function create() {
    const sent = edit;
    const post = await client.call('createPost', { body: draftOf(sent) });
    take(post, sent);
    await start.oncreated?.(post);
    forgetFeeds(queries);
  }

  /** Sends changes of the post as it was last read; false if somebody else has changed it since. */
  async function update(post: Post, patch: PostUpdate, since = post.updated_at): Promise<boolean> {
    const sent = edit;
    try {
      const body = { ...patch, if_unchanged_since: since };
      take(await client.call('updatePost', { params: { id: post.id }, body }), sent);
      return true;
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'changed') throw error;
      newer = await client.call('getPost', { params: { id: post.id } });
      return false;
    }
  }

  async function store(extra: PostUpdate): Promise<boolean> {
    if (base === undefined && edit.members.length > 0) await create();
    if (base === undefined) return false;
    const patch = { ...patchOf(base, edit), ...extra };
    return isEmptyPatch(patch) || update(base, patch);
  }

  async function publish(way: 'publishPost' | 'unpublishPost', overrideReason?: string): Promise<boolean> {
    if (!(await store({})) || base === undefined) return false;
    const sent = edit;
    const params = { id: base.id };
    const body = overrideReason === undefined ? undefined : { override_reason: overrideReason };
    const moving =
      way === 'publishPost'
        ? client.call('publishPost', { params, body })
        : client.call('unpublishPost', { params });
    const answer = await moving.catch((error: unknown) => {
      // Somebody else has already done it.
      const isDone = error instanceof CallError && /^post-is-/.test(error.code ?? '');
      if (isDone) return client.call('getPost', { params });
      throw error;
    });
    forgetFeeds(queries);
    take(answer, sent);
    return true;
  }

  // A failed run does not keep the next one from starting.
  let last: Promise<unknown> = Promise.resolve();
  function run(work: () => Promise<boolean>): Promise<boolean> {
    const next = last.then(async () => {
      let done = false;
      const sent = await mutation.run(async () => {
        done = await work();
      });
      return sent && done;
    });
    last = next;
    return next;
  }

  async function noted(work: () => Promise<boolean>): Promise<boolean> {
    const done = await run(work);
    if (done) saved = true;
    return done;
  }

  return {
    get base() {
      return base;
    },
    get edit() {
      return edit;
    },
    get members() {
      return members;
    },
    get isDirty() {
      return isDirty;
    },
    get isSaved() {
      return saved && !isDirty;
    },
    get busy() {
      return mutation.busy;
    },
    get problem() {
      return mutation.problem;
    },
    get error() {
      return mutation.error;
    },
    get newer() {
      return newer;
    },
    change,
    learn,
    add(assets) {
      learn(assets);
      const fresh = assets.map(({ id }) => id).filter((id) => !edit.members.includes(id));
      if (fresh.length > 0) change({ members: [...edit.members, ...fresh] });
    },
    save: (overrideReason) =>
      noted(() => store(overrideReason === undefined ? {} : { override_reason: overrideReason })),
    saveWith: (patch) => noted(() => store(patch)),
    move: (way, overrideReason) => run(() => publish(way, overrideReason)),
    removeDraft: () =>
      run(async () => {
        if (base !== undefined) await client.call('deletePost', { params: { id: base.id }, body: {} });
        base = undefined;
        newer = undefined;
        edit = { ...edit, members: [], plain: [], cover: null, focal: null };
        forgetFeeds(queries);
        return true;
      }),
    keepMine() {
      const theirs = newer;
      newer = undefined;
      return noted(async () => {
        if (theirs === undefined || base === undefined) return false;
        return update(base, patchOf(base, edit), theirs.updated_at);
      });
    },
    loadTheirs() {
      const theirs = newer;
      newer = undefined;
      mutation.forget();
      if (theirs !== undefined) take(theirs, edit);
    },
    postpone() {
      newer = undefined;
    },
    async settled() {
      await last;
    },
  };
}

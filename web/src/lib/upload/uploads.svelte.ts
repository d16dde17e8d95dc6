import { CallError } from '@vitrine/contract/client';
import { createContext } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';
import { problemText } from '#lib/problems.ts';
import { askToContinue, untilNotSending } from './background.ts';
import type { KeptFile, KeptFiles } from './kept-files.ts';
import * as steps from './queue.ts';
import type { Sending } from './sent.ts';

/** Two, so that one is sent while the server processes the other. */
const atOnce = 2;

/** The uploads for the next post. */
export interface Uploads {
  readonly queue: steps.UploadQueue;
  /** Explains why the last chosen files were not added. */
  readonly problem: string | undefined;
  /** The team of files added from now on; empty for none. */
  readonly teamId: string;
  /** Whether the files belong to the unfinished post, and not to one that begins with them. */
  readonly isOfPost: boolean;
  /** Whether the browser keeps all files that are on their way. */
  readonly isKept: boolean;
  adopt(): void;
  intendFor(teamId: string): void;
  /** Adds all files, or none if a post cannot have that many. */
  add(files: readonly File[]): void;
  fileOf(id: string): File | undefined;
  retry(id: string): void;
  remove(id: string): void;
  /** Continues with the files that were kept when a page was left. */
  resume(): Promise<void>;
  /** Says that a file is part of the post, so that it need not be kept. */
  release(id: string): void;
  /** Stops running uploads and removes all files. */
  clear(): void;
}

export const [getUploads, setUploads] = createContext<Uploads>();

/** The functions that send files to the service. */
export interface UploadTransport {
  sendAsset(file: File, teamId: string | undefined, onSent: (bytes: number) => void): Sending;
  sendSubtitles(
    file: File,
    assetId: string,
    lang: string,
    onSent: (bytes: number) => void,
  ): { done: Promise<unknown>; stop(): void };
  /** Returns the account's other assets with the same bytes, oldest first. */
  copiesOf(assetId: string): Promise<readonly { readonly id: string; readonly title: string }[]>;
}

/** Creates a queue whose files are kept, if they are, in `keptFiles`. */
export function createUploads(
  ways: UploadTransport,
  keptFiles: () => KeptFiles | undefined = () => undefined,
): Uploads {
  let queue = $state.raw<steps.UploadQueue>([]);
  let problem = $state<string>();
  let teamId = $state('');
  let isOfPost = $state(false);
  const kept = new SvelteSet<string>();
  let made = 0;
  // These two are not displayed, so they are not reactive.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  const files = new Map<string, File>();
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  const sendings = new Map<string, { stop(): void }>();

  function begin(id: string) {
    const file = files.get(id);
    if (file === undefined) return;
    const item = queue.find((queued) => queued.id === id);
    const video = item === undefined ? null : steps.videoFor(queue, item);
    queue = steps.started(queue, id);
    if (video !== null && video !== 'unfinished' && video.item.assetId !== undefined) {
      attach(id, file, video.item.assetId, video);
      return;
    }
    sendPlain(id, file);
  }

  /** Sends subtitles to their video. A file that turns out to be something else is uploaded normally. */
  function attach(id: string, file: File, assetId: string, { item, lang }: steps.SubtitlesOf) {
    const sending = ways.sendSubtitles(file, assetId, lang, (bytes) => {
      queue = steps.progressed(queue, id, bytes);
    });
    sendings.set(id, sending);
    sending.done
      .then(
        () => {
          queue = steps.attached(queue, id, item.name);
          release(id);
        },
        (error: unknown) => {
          if (error instanceof CallError && error.status === 400) sendPlain(id, file);
          else queue = steps.failed(queue, id, problemText(error));
        },
      )
      .finally(() => {
        if (sendings.get(id) === sending) sendings.delete(id);
        beginNext();
      });
  }

  function sendPlain(id: string, file: File) {
    const sending = ways.sendAsset(file, queue.find((item) => item.id === id)?.teamId, (bytes) => {
      queue = steps.progressed(queue, id, bytes);
    });
    sendings.set(id, sending);
    sending.done
      .then(
        (asset) => {
          queue = steps.finished(queue, id, asset);
          if (queue.some((item) => item.id === id && steps.isPart(item))) {
            keptFiles()?.remove([id]);
            return;
          }
          void keptFiles()?.arrived(id, asset);
          void lookForCopies(id, asset.id);
        },
        (error: unknown) => {
          queue = steps.failed(queue, id, problemText(error));
        },
      )
      .finally(() => {
        if (sendings.get(id) === sending) sendings.delete(id);
        beginNext();
      });
  }

  /** Errors of this check are ignored. */
  async function lookForCopies(id: string, assetId: string) {
    const copies = await ways.copiesOf(assetId).catch(() => []);
    queue = steps.copied(queue, id, copies);
  }

  function beginNext() {
    for (const id of steps.nextToStart(queue, atOnce)) begin(id);
  }

  function forget(id: string) {
    problem = undefined;
    queue = steps.removed(queue, id);
    files.delete(id);
    sendings.get(id)?.stop();
    release(id);
  }

  function release(id: string) {
    kept.delete(id);
    keptFiles()?.remove([id]);
  }

  async function keep(file: KeptFile) {
    if ((await keptFiles()?.put(file)) !== true || !files.has(file.id)) return;
    kept.add(file.id);
    await askToContinue();
  }

  // Browsers give up after some attempts, which fail while a page is open.
  globalThis.document?.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden' && kept.size > 0) void askToContinue();
  });

  return {
    get queue() {
      return queue;
    },
    get problem() {
      return problem;
    },
    get teamId() {
      return teamId;
    },
    get isOfPost() {
      return isOfPost;
    },
    get isKept() {
      return queue.every(({ id, state }) => state === 'done' || kept.has(id));
    },
    adopt() {
      isOfPost = true;
    },
    intendFor(team) {
      teamId = team;
    },
    add(picked) {
      problem = steps.tooManyFiles(queue.length, picked.length);
      if (problem !== undefined) return;
      const items = picked.map((file) => {
        made += 1;
        // Kept files have ids of earlier pages.
        const id = `file-${Date.now()}-${made}`;
        files.set(id, file);
        return { id, name: file.name, size: file.size, file };
      });
      const whose = teamId === '' ? undefined : teamId;
      queue = steps.added(queue, items, whose);
      for (const { id, file } of items)
        void keep({ id, file, ...(whose === undefined ? {} : { teamId: whose }) });
      beginNext();
    },
    fileOf: (id) => files.get(id),
    retry(id) {
      queue = steps.retried(queue, id);
      beginNext();
    },
    remove: forget,
    async resume() {
      await untilNotSending();
      for (const { id, file, teamId: whose, asset } of (await keptFiles()?.takeOver()) ?? []) {
        if (files.has(id)) continue;
        files.set(id, file);
        kept.add(id);
        queue = steps.added(queue, [{ id, name: file.name, size: file.size }], whose);
        if (asset !== undefined) queue = steps.finished(steps.started(queue, id), id, asset);
      }
      beginNext();
    },
    release,
    clear() {
      problem = undefined;
      teamId = '';
      isOfPost = false;
      for (const item of queue) forget(item.id);
    },
  };
}

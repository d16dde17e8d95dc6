import { CallError } from '@vitrine/contract/client';
import { createContext } from 'svelte';
import { problemText } from '#lib/problems.ts';
import { copyNote } from './notes.ts';
import * as steps from './queue.ts';
import type { Sending } from './sent.ts';

/** Two: one sends while the server still takes in the other. */
const atOnce = 2;

/** The files picked for the next post and their way to the server. */
export interface Uploads {
  readonly queue: steps.UploadQueue;
  /** Why the files chosen last were not taken, for people. */
  readonly problem: string | undefined;
  /** The team that files added from now on are given to, empty for none. */
  readonly teamId: string;
  intendFor(teamId: string): void;
  /** Takes all of them, or none when a post cannot have so many. */
  add(files: readonly File[]): void;
  fileOf(id: string): File | undefined;
  retry(id: string): void;
  remove(id: string): void;
  move(id: string, to: number): void;
  /** Notes that these assets follow the posts they are in. */
  follow(assetIds: readonly string[]): void;
  /** Stops what is under way and forgets every file. */
  clear(): void;
}

export const [getUploads, setUploads] = createContext<Uploads>();

/** How files get to the service. */
export interface UploadTransport {
  sendAsset(file: File, teamId: string | undefined, onSent: (bytes: number) => void): Sending;
  sendSubtitles(
    file: File,
    assetId: string,
    lang: string,
    onSent: (bytes: number) => void,
  ): { done: Promise<unknown>; stop(): void };
  /** The titles of other files of this account with the same bytes. */
  titlesOfCopies(assetId: string): Promise<string[]>;
}

export function createUploads(ways: UploadTransport): Uploads {
  let queue = $state.raw<steps.UploadQueue>([]);
  let problem = $state<string>();
  let teamId = $state('');
  let made = 0;
  // Nothing displays these two, so they need not be reactive.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  const files = new Map<string, File>();
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  const sendings = new Map<string, { stop(): void }>();

  function begin(id: string) {
    const file = files.get(id);
    if (file === undefined) return;
    const item = queue.find((one) => one.id === id);
    const video = item === undefined ? null : steps.videoFor(queue, item);
    queue = steps.started(queue, id);
    if (video !== null && video !== 'unfinished' && video.item.assetId !== undefined) {
      attach(id, file, video.item.assetId, video);
      return;
    }
    sendPlain(id, file);
  }

  /** Sends subtitles to their video. What turns out to be something else is a file like any other. */
  function attach(id: string, file: File, assetId: string, { item, lang }: steps.SubtitlesOf) {
    const sending = ways.sendSubtitles(file, assetId, lang, (bytes) => {
      queue = steps.progressed(queue, id, bytes);
    });
    sendings.set(id, sending);
    sending.done
      .then(
        () => {
          queue = steps.attached(queue, id, item.name);
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

  /** Errors of this check are not shown. */
  async function lookForCopies(id: string, assetId: string) {
    const titles = await ways.titlesOfCopies(assetId).catch(() => []);
    const note = copyNote(titles);
    if (note !== undefined) queue = steps.noted(queue, id, note);
  }

  function beginNext() {
    for (const id of steps.nextToStart(queue, atOnce)) begin(id);
  }

  function forget(id: string) {
    problem = undefined;
    queue = steps.removed(queue, id);
    files.delete(id);
    sendings.get(id)?.stop();
  }

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
    intendFor(team) {
      teamId = team;
    },
    add(picked) {
      problem = steps.tooManyFiles(queue, picked.length);
      if (problem !== undefined) return;
      const items = picked.map((file) => {
        made += 1;
        const id = `file-${made}`;
        files.set(id, file);
        return { id, name: file.name, size: file.size };
      });
      queue = steps.added(queue, items, teamId === '' ? undefined : teamId);
      beginNext();
    },
    fileOf: (id) => files.get(id),
    retry(id) {
      queue = steps.retried(queue, id);
      beginNext();
    },
    remove: forget,
    move(id, to) {
      queue = steps.moved(queue, id, to);
    },
    follow(assetIds) {
      queue = steps.following(queue, assetIds);
    },
    clear() {
      problem = undefined;
      teamId = '';
      for (const item of queue) forget(item.id);
    },
  };
}

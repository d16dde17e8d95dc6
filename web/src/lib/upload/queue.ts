import type { Sensitivity } from '@vitrine/contract/assets';
import { isSubtitleName, sidecarMatches, stemOf } from '@vitrine/contract/sidecars';
import { nameNote, sizeNote } from './notes.ts';
import type { SentAsset } from './sent.ts';

/** One file on its way to becoming an asset. */
export interface UploadItem {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed';
  /** Bytes that have left this computer. */
  readonly sent: number;
  readonly assetId?: string;
  /** Which kind of asset the file became. */
  readonly assetType?: number;
  /** The audience of the asset itself, whatever post it is in. */
  readonly sensitivity?: Sensitivity;
  /** The team that the asset is given to. */
  readonly teamId?: string;
  readonly error?: string;
  /** What is odd about the file, for people. */
  readonly notes: readonly string[];
  /** The item it became the subtitles of; it is no file of the post then. */
  readonly subtitlesOf?: string;
}

export type UploadQueue = readonly UploadItem[];

export interface UploadCounts {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly unfinished: number;
}

/** The most members that a post may have (POST-16). */
const mostFiles = 200;

/** Asset types that have subtitles: video and audio (ASSET-25). */
const playable: readonly number[] = [3, 4];

/** Why this many more files do not go in, for people; undefined when they do. */
export function tooManyFiles(queue: UploadQueue, more: number): string | undefined {
  const room = mostFiles - queue.length;
  if (more <= room) return undefined;
  const limit = `A post can have at most ${mostFiles} files`;
  if (queue.length === 0) return `${limit}, and you chose ${more}. Nothing was added: choose fewer.`;
  const left = room <= 0 ? 'so no more fit' : room === 1 ? 'so one more fits' : `so ${room} more fit`;
  return `${limit}. It has ${queue.length} already, ${left}, and you chose ${more}. Nothing was added.`;
}

export function added(
  queue: UploadQueue,
  files: readonly Pick<UploadItem, 'id' | 'name' | 'size'>[],
  teamId?: string,
): UploadQueue {
  const whose = teamId === undefined ? {} : { teamId };
  return [
    ...queue,
    ...files.map(({ id, name, size }) => {
      const notes = [sizeNote(size) ?? []].flat();
      return { id, name, size, state: 'waiting' as const, sent: 0, notes, ...whose };
    }),
  ];
}

/** An item that these subtitles belong to, and in which language. */
export interface SubtitlesOf {
  readonly item: UploadItem;
  readonly lang: string;
}

/** The video in the queue that an item is the subtitles of; `unfinished` while that is on its way, null without one. */
export function videoFor(queue: UploadQueue, { id, name }: UploadItem): SubtitlesOf | 'unfinished' | null {
  for (const { stem, lang } of sidecarMatches(name)) {
    const beside = queue.filter(
      (one) => one.id !== id && stemOf(one.name) === stem && !isSubtitleName(one.name),
    );
    const playing = beside.find((one) => one.assetType !== undefined && playable.includes(one.assetType));
    if (playing !== undefined) return { item: playing, lang };
    if (beside.some((one) => one.state === 'waiting' || one.state === 'sending')) return 'unfinished';
  }
  return null;
}

/** The ids that may start now, first come first, so that no more than `atOnce` are under way. */
export function nextToStart(queue: UploadQueue, atOnce: number): string[] {
  const free = atOnce - queue.filter((item) => item.state === 'sending').length;
  const waiting = queue.filter((item) => item.state === 'waiting' && videoFor(queue, item) !== 'unfinished');
  return waiting.slice(0, Math.max(0, free)).map((item) => item.id);
}

function changed(queue: UploadQueue, id: string, change: (item: UploadItem) => UploadItem): UploadQueue {
  return queue.map((item) => (item.id === id ? change(item) : item));
}

export function started(queue: UploadQueue, id: string): UploadQueue {
  return changed(queue, id, (item) =>
    item.state === 'waiting' ? { ...item, state: 'sending', sent: 0 } : item,
  );
}

/** `sent` never runs backwards and never passes the file's size. */
export function progressed(queue: UploadQueue, id: string, sent: number): UploadQueue {
  return changed(queue, id, (item) =>
    item.state === 'sending' ? { ...item, sent: Math.min(item.size, Math.max(item.sent, sent)) } : item,
  );
}

export function finished(queue: UploadQueue, id: string, asset: SentAsset): UploadQueue {
  const became = { assetId: asset.id, assetType: asset.type, sensitivity: asset.sensitivity };
  return changed(queue, id, (item) => {
    if (item.state !== 'sending') return item;
    const notes = [...item.notes, ...[nameNote(item.name, asset.extension) ?? []].flat()];
    return { ...item, state: 'done', sent: item.size, notes, ...became };
  });
}

/** The file became the subtitles of another one. */
export function attached(queue: UploadQueue, id: string, to: string): UploadQueue {
  return changed(queue, id, (item) =>
    item.state === 'sending' ? { ...item, state: 'done', sent: item.size, subtitlesOf: to } : item,
  );
}

/** Something odd about a file that was learned later. */
export function noted(queue: UploadQueue, id: string, note: string): UploadQueue {
  return changed(queue, id, (item) => ({ ...item, notes: [...item.notes, note] }));
}

export function failed(queue: UploadQueue, id: string, error: string): UploadQueue {
  return changed(queue, id, (item) =>
    item.state === 'sending' ? { ...item, state: 'failed', error } : item,
  );
}

/** Notes that these assets follow the posts they are in. */
export function following(queue: UploadQueue, assetIds: readonly string[]): UploadQueue {
  return queue.map((item) =>
    item.assetId !== undefined && assetIds.includes(item.assetId) ? { ...item, sensitivity: 'posts' } : item,
  );
}

/** A failed file waits again, without its old error; any other is left alone. */
export function retried(queue: UploadQueue, id: string): UploadQueue {
  return changed(queue, id, (item) => {
    if (item.state !== 'failed') return item;
    const { name, size, teamId, notes } = item;
    return { id, name, size, state: 'waiting', sent: 0, notes, ...(teamId === undefined ? {} : { teamId }) };
  });
}

export function removed(queue: UploadQueue, id: string): UploadQueue {
  return queue.filter((item) => item.id !== id);
}

/** The queue with one file at another place; a place outside is the nearest end. */
export function moved(queue: UploadQueue, id: string, to: number): UploadQueue {
  const item = queue.find((one) => one.id === id);
  if (item === undefined) return queue;
  const rest = removed(queue, id);
  const place = Math.min(rest.length, Math.max(0, to));
  return [...rest.slice(0, place), item, ...rest.slice(place)];
}

export function countsOf(queue: UploadQueue): UploadCounts {
  const count = (state: UploadItem['state']) => queue.filter((item) => item.state === state).length;
  return {
    total: queue.length,
    done: count('done'),
    failed: count('failed'),
    unfinished: count('waiting') + count('sending'),
  };
}

/** What choosing a team does with the files, for people: an asset's team is what it was uploaded with (ASSET-18). */
export function teamNote(queue: UploadQueue, teamId: string): string {
  const shows = 'It shows on the team’s page to whoever may see it.';
  if (teamId === '')
    return queue.length === 0 ? `${shows} Files added after it is chosen become the team’s too.` : shows;
  const others = queue.filter((item) => item.teamId !== teamId).length;
  if (others === 0) return `${shows} The files become the team’s too.`;
  const [were, them] = others === 1 ? ['One file was', 'it'] : [`${others} files were`, 'them'];
  return `${shows} ${were} added before it was chosen: to make ${them} the team’s, remove and add ${them} again.`;
}

/** Ids of the uploaded assets in the order shown; files that failed are not among them. */
export function assetIdsOf(queue: UploadQueue): string[] {
  return queue.flatMap((item) => (item.assetId === undefined ? [] : [item.assetId]));
}

/** What a screen reader is told about the queue. */
export function spokenProgress(queue: UploadQueue): string {
  const { total, done, failed: lost, unfinished } = countsOf(queue);
  if (total === 0) return '';
  const files = total === 1 ? '1 file' : `${total} files`;
  const trouble = lost === 0 ? '' : `, ${lost} failed`;
  return unfinished === 0
    ? `${done} of ${files} uploaded${trouble}.`
    : `Uploading: ${done} of ${files} done${trouble}.`;
}

import {
  isFilmName,
  isMetadataName,
  isPhotoName,
  isSubtitleName,
  metadataMatch,
  sidecarMatches,
  stemOf,
} from '@vitrine/contract/sidecars';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';
import { copyNote, nameNote, sizeNote } from './notes.ts';
import type { SentAsset } from './sent.ts';

/** A file that is being uploaded. */
export interface UploadItem {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed';
  /** The number of bytes sent. */
  readonly sent: number;
  readonly assetId?: string;
  /** The type of the resulting asset. */
  readonly assetType?: number;
  /** The team of the asset. */
  readonly teamId?: string;
  readonly error?: string;
  /** A warning about the file. */
  readonly notes: readonly string[];
  /** Another file of the account with the same bytes. */
  readonly copyOf?: { readonly id: string; readonly title: string };
  /** The item whose subtitles it became; then it is not a file of the post. */
  readonly subtitlesOf?: string;
  /** The file that it describes as its sidecar; then it is not a file of the post. */
  readonly describes?: string;
  /** The live photo whose film it became; then it is not a file of the post. */
  readonly filmOf?: string;
}

export type UploadQueue = readonly UploadItem[];

export interface UploadCounts {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly unfinished: number;
}

/** The maximum number of members of a post (POST-16). */
const mostFiles = 200;

/** Asset types that have subtitles: video and audio (ASSET-25). */
const playable: readonly number[] = [3, 4];

/** Explains why this many files cannot be added to those that there are; undefined if they can. */
export function tooManyFiles(count: number, more: number): string | undefined {
  const room = mostFiles - count;
  if (more <= room) return undefined;
  if (count === 0)
    return `A post can have at most ${mostFiles} files, and you chose ${more}. Nothing was added: choose fewer.`;
  const left =
    room <= 0
      ? phrase('so there is no room')
      : plural(room, ['so there is room for one', 'so there is room for #']);
  return `A post can have at most ${mostFiles} files. It has ${count} already, ${left}, and you chose ${more}. Nothing was added.`;
}

export function added(
  queue: UploadQueue,
  files: readonly Pick<UploadItem, 'id' | 'name' | 'size'>[],
  teamId?: string,
): UploadQueue {
  const whose = teamId === undefined ? {} : { teamId };
  return [
    ...queue,
    ...files.map(({ id, name, size }): UploadItem => {
      const notes = [sizeNote(size) ?? []].flat();
      return { id, name, size, state: 'waiting' as const, sent: 0, notes, ...whose };
    }),
  ];
}

/** The item to which subtitles belong, and their language. */
export interface SubtitlesOf {
  readonly item: UploadItem;
  readonly lang: string;
}

/**
 * Returns the video in the queue to which an item's subtitles belong; `unfinished` while that is uploading, null if
 * there is none.
 */
export function videoFor(queue: UploadQueue, { id, name }: UploadItem): SubtitlesOf | 'unfinished' | null {
  for (const { stem, lang } of sidecarMatches(name)) {
    const beside = queue.filter(
      (sibling) => sibling.id !== id && stemOf(sibling.name) === stem && !isSubtitleName(sibling.name),
    );
    const playing = beside.find(
      (sibling) => sibling.assetType !== undefined && playable.includes(sibling.assetType),
    );
    if (playing !== undefined) return { item: playing, lang };
    if (beside.some((sibling) => sibling.state === 'waiting' || sibling.state === 'sending'))
      return 'unfinished';
  }
  return null;
}

/**
 * Returns whether a sidecar has to wait for the file that it describes (SIDECAR-1), or a film for the photo to which it may
 * belong (UPLOAD-16).
 */
function waitsForFile(queue: UploadQueue, { id, name }: UploadItem): boolean {
  if (!isMetadataName(name) && !isFilmName(name)) return false;
  const others = queue.filter(
    (item) => item.id !== id && (item.state === 'waiting' || item.state === 'sending'),
  );
  if (isMetadataName(name)) return metadataMatch(name, others) !== null;
  return others.some((item) => isPhotoName(item.name) && stemOf(item.name) === stemOf(name));
}

/** Returns the ids that may start now, in order, so that at most `atOnce` are running. */
export function nextToStart(queue: UploadQueue, atOnce: number): string[] {
  const free = atOnce - queue.filter((item) => item.state === 'sending').length;
  const waiting = queue.filter(
    (item) =>
      item.state === 'waiting' && videoFor(queue, item) !== 'unfinished' && !waitsForFile(queue, item),
  );
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

/** `sent` never decreases and never exceeds the size of the file. */
export function progressed(queue: UploadQueue, id: string, sent: number): UploadQueue {
  return changed(queue, id, (item) =>
    item.state === 'sending' ? { ...item, sent: Math.min(item.size, Math.max(item.sent, sent)) } : item,
  );
}

/** Asset types that a sidecar itself never has: picture, video and audio (ASSET-25). */
const describable: readonly number[] = [1, 3, 4];
const picture = 1;

/**
 * Returns the file whose metadata or film an item became, according to the asset that the service returned for it;
 * undefined if the item is a file of its own.
 */
function partOf(
  queue: UploadQueue,
  { id, name }: UploadItem,
  asset: SentAsset,
): Pick<UploadItem, 'describes' | 'filmOf'> | undefined {
  const file = queue.find((item) => item.id !== id && item.assetId === asset.id);
  const isSidecar = isMetadataName(name);
  const hasJoined = isSidecar
    ? file !== undefined || describable.includes(asset.type)
    : isFilmName(name) && asset.type === picture;
  if (!hasJoined) return undefined;
  const whole = file?.name ?? phrase('an earlier file');
  return isSidecar ? { describes: whole } : { filmOf: whole };
}

/** Returns whether an item became a part of another file. */
export function isPart({ subtitlesOf, describes, filmOf }: UploadItem): boolean {
  return (subtitlesOf ?? describes ?? filmOf) !== undefined;
}

/** Makes a film whose asset the photo of the queue has taken over a part of that photo (UPLOAD-16). */
function withoutFilm(queue: UploadQueue, id: string, asset: SentAsset): UploadQueue {
  const photo = queue.find((item) => item.id === id);
  if (photo === undefined || !isPhotoName(photo.name)) return queue;
  return queue.map((item) => {
    if (item.id === id || item.assetId !== asset.id || !isFilmName(item.name)) return item;
    const { assetId: _, assetType: __, ...film } = item;
    return { ...film, filmOf: photo.name };
  });
}

export function finished(queue: UploadQueue, id: string, asset: SentAsset): UploadQueue {
  const became = { assetId: asset.id, assetType: asset.type };
  return changed(withoutFilm(queue, id, asset), id, (item) => {
    if (item.state !== 'sending') return item;
    const part = partOf(queue, item, asset);
    if (part !== undefined) return { ...item, state: 'done', sent: item.size, ...part };
    const notes = [...item.notes, ...[nameNote(item.name, asset.extension) ?? []].flat()];
    return { ...item, state: 'done', sent: item.size, notes, ...became };
  });
}

/** Marks the file as subtitles of another one. */
export function attached(queue: UploadQueue, id: string, to: string): UploadQueue {
  return changed(queue, id, (item) =>
    item.state === 'sending' ? { ...item, state: 'done', sent: item.size, subtitlesOf: to } : item,
  );
}

/** Marks the file as a copy of others, of which the first can be used instead. */
export function copied(
  queue: UploadQueue,
  id: string,
  copies: readonly { readonly id: string; readonly title: string }[],
): UploadQueue {
  const [first] = copies;
  const note = copyNote(copies.map(({ title }) => title));
  if (first === undefined || note === undefined) return queue;
  return changed(queue, id, (item) => ({ ...item, notes: [...item.notes, note], copyOf: first }));
}

export function failed(queue: UploadQueue, id: string, error: string): UploadQueue {
  return changed(queue, id, (item) =>
    item.state === 'sending' ? { ...item, state: 'failed', error } : item,
  );
}

/** Queues a failed file again without its error. Other files do not change. */
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

export function countsOf(queue: UploadQueue): UploadCounts {
  const count = (state: UploadItem['state']) => queue.filter((item) => item.state === state).length;
  return {
    total: queue.length,
    done: count('done'),
    failed: count('failed'),
    unfinished: count('waiting') + count('sending'),
  };
}

/** The progress of all uploads together. */
export interface UploadProgress {
  readonly done: number;
  readonly total: number;
  /** The fraction of the bytes that were sent, from 0 to 1. */
  readonly part: number;
}

/** Returns the progress of all uploads; undefined if none is on its way. */
export function progressOf(queue: UploadQueue): UploadProgress | undefined {
  const { total, done, unfinished } = countsOf(queue);
  if (unfinished === 0) return undefined;
  const bytes = queue.reduce((sum, { size }) => sum + size, 0);
  const sent = queue.reduce((sum, item) => sum + (item.state === 'done' ? item.size : item.sent), 0);
  return { done, total, part: bytes === 0 ? 0 : sent / bytes };
}

/** Explains how the chosen team affects the files of these teams: an asset's team is set at its upload (ASSET-18). */
export function teamNote(teams: readonly (string | undefined)[], teamId: string): string {
  const shows = 'It appears on the team’s page for everyone who may see it.';
  if (teamId === '')
    return teams.length === 0 ? `${shows} Files added from now on belong to the team too.` : shows;
  const others = teams.filter((team) => team !== teamId).length;
  if (others === 0) return `${shows} The files belong to the team too.`;
  const before = plural(others, [
    'One file was added before you chose the team. To assign it to the team, remove it and add it again.',
    '# files were added before you chose the team. To assign them to the team, remove them and add them again.',
  ]);
  return `${shows} ${before}`;
}

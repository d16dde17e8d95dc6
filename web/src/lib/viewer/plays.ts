import type { ShownAsset } from '@vitrine/contract/assets';
import type { Box } from '#lib/assets/fit.ts';

/** Extensions of video and audio. `ts` is also that of a programming language, so the media facts decide. */
const extensions = new Set(
  (
    '3gp aac aif aiff amr ape asf avi flac flv m2ts m4a m4b m4v mka mkv mov mp2 mp3 mp4 mpeg mpg mts mxf oga ogg ogv opus ' +
    'ts wav webm wma wmv'
  ).split(' '),
);

/** Extensions of sounds, whose pictures are covers or waveforms. */
const sounds = new Set('aac aif aiff amr ape flac m4a m4b mka mp2 mp3 oga ogg opus wav wma'.split(' '));

/** Returns whether a file is a sound, judged by its name. */
export function isSound({ file_extension }: Pick<ShownAsset, 'file_extension'>): boolean {
  return sounds.has(file_extension?.toLowerCase() ?? '');
}

/** Extensions of pictures that may be animated. PNG is not included, because APNG has its own extension. */
const moving = new Set(['apng', 'avif', 'gif', 'webp']);

/** Returns whether a file may be an animated picture. Only then are its media facts read. */
export function mayMove({ file_extension }: Pick<ShownAsset, 'file_extension'>): boolean {
  return moving.has(file_extension?.toLowerCase() ?? '');
}

/** Returns whether a file may be playable. Only then are its media facts read. */
export function isPlayable({ file_extension }: Pick<ShownAsset, 'file_extension'>): boolean {
  return extensions.has(file_extension?.toLowerCase() ?? '');
}

/** Height of the controls below the picture, in CSS pixels. */
const controls = 84;

/**
 * Returns the size of a player in a page, in CSS pixels. A video is as large as its aspect ratio allows; its controls
 * are below it and stay wide enough for use.
 */
export function playerBox(
  player: 'video' | 'audio',
  { pixel_width, pixel_height }: Pick<ShownAsset, 'pixel_width' | 'pixel_height'>,
  room: Box,
): Box {
  if (player === 'audio') return { width: Math.min(room.width, 720), height: Math.min(room.height, 480) };
  const ratio = (pixel_width ?? 16) / (pixel_height ?? 9);
  const height = Math.max(0, Math.min(room.height - controls, room.width / ratio));
  const width = Math.max(Math.min(room.width, 360), Math.min(room.width, Math.ceil(height * ratio)));
  return { width, height: Math.min(room.height, Math.round(height) + controls) };
}

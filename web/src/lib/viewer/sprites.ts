import { secondsOf } from './clock.ts';

/** The part of the sprite sheet for a period of a video. */
export interface Sprite {
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  /** Pixels of the sprite sheet. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const cue = /([\d:.]+) --> ([\d:.]+)\s+\S*#xywh=(\d+),(\d+),(\d+),(\d+)/g;

/** Parses the cues of `sprites.vtt`; ignores anything else. */
export function readSprites(text: string): Sprite[] {
  return [...text.matchAll(cue)].map(([, from = '', to = '', ...numbers]) => {
    const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number);
    return { from: secondsOf(from), to: secondsOf(to), x, y, width, height };
  });
}

/** Returns the preview for a time in the video, or the nearest one. */
export function spriteAt(sprites: readonly Sprite[], seconds: number): Sprite | undefined {
  return sprites.find(({ to }) => seconds < to) ?? sprites.at(-1);
}

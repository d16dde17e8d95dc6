import { localNumber } from './clock.ts';

/** The playback state of a media element, to which the element and its controls are bound. */
export interface Playback {
  /** Seconds. */
  time: number;
  duration: number;
  paused: boolean;
  muted: boolean;
  /** 0 to 1. */
  volume: number;
  rate: number;
}

export const rates: readonly number[] = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];

/** Creates the state of a playback that has not started. */
export function createPlayback(): Playback {
  const playback = $state<Playback>({ time: 0, duration: 0, paused: true, muted: false, volume: 1, rate: 1 });
  return playback;
}

/** Seeks to a position within the duration. */
export function seek(playback: Playback, seconds: number): void {
  playback.time = Math.min(localNumber(playback.duration), Math.max(0, seconds));
}

function nextRate(rate: number, by: 1 | -1): number {
  const at = rates.indexOf(rate);
  return rates[Math.min(rates.length - 1, Math.max(0, at + by))] ?? 1;
}

/** Handles a key; false if it has no meaning for playback. */
export function handlePlaybackKey(playback: Playback, key: string): boolean {
  if (key === ' ' || key === 'k') playback.paused = !playback.paused;
  else if (key === 'j') seek(playback, playback.time - 10);
  else if (key === 'l') seek(playback, playback.time + 10);
  else if (key === 'm') playback.muted = !playback.muted;
  else if (key === '<') playback.rate = nextRate(playback.rate, -1);
  else if (key === '>') playback.rate = nextRate(playback.rate, 1);
  else if (key === 'ArrowUp') playback.volume = Math.min(1, playback.volume + 0.1);
  else if (key === 'ArrowDown') playback.volume = Math.max(0, playback.volume - 0.1);
  else return false;
  return true;
}

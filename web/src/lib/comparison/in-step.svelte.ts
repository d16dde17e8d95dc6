import { untrack } from 'svelte';
import { localNumber } from '#lib/viewer/clock.ts';

/** Two films that play, pause and seek together. */
export interface InStep {
  readonly paused: boolean;
  /** The position in seconds. */
  readonly time: number;
  /** That of the longer one, in seconds. */
  readonly duration: number;
  rate: number;
  toggle(): void;
  seek(seconds: number): void;
  /** Keeps a film in step until it is removed. The first one leads. */
  join(at: 0 | 1): (film: HTMLVideoElement) => () => void;
}

/** Below this the films are in step: a frame at 25 frames per second, in seconds. */
const tolerance = 0.04;
/** Beyond this the second film jumps; less is caught up by playing slightly faster or slower. */
const jump = 0.3;

/** Creates the state of two films that are not loaded yet. */
export function createInStep(): InStep {
  const films: [HTMLVideoElement | undefined, HTMLVideoElement | undefined] = [undefined, undefined];
  let paused = $state(true);
  let time = $state(0);
  let duration = $state(0);
  let rate = $state(1);
  let request = 0;

  const present = () => films.filter((film) => film !== undefined);

  /** Corrects the second film by its distance from the first. */
  function correct() {
    const [first, second] = films;
    if (first === undefined || second === undefined) return;
    const end = localNumber(second.duration);
    const ahead = second.currentTime - Math.min(first.currentTime, end);
    if (Math.abs(ahead) > jump || (first.paused && Math.abs(ahead) > tolerance / 2))
      second.currentTime = first.currentTime;
    second.playbackRate = rate * (Math.abs(ahead) < tolerance ? 1 : ahead > 0 ? 0.95 : 1.05);
    if (!first.paused && second.paused && second.currentTime < end - tolerance) void play(second);
  }

  function follow() {
    const [leading] = present();
    if (leading !== undefined) time = leading.currentTime;
    correct();
    request = paused ? 0 : requestAnimationFrame(follow);
  }

  async function play(film: HTMLVideoElement) {
    // A browser may refuse to play sound before a click; the films then stay paused.
    await film.play().catch(() => undefined);
  }

  function read() {
    duration = Math.max(0, ...present().map((film) => localNumber(film.duration)));
    paused = films[0]?.paused ?? true;
    if (paused) for (const film of present()) film.pause();
    cancelAnimationFrame(request);
    follow();
  }

  return {
    get paused() {
      return paused;
    },
    get time() {
      return time;
    },
    get duration() {
      return duration;
    },
    get rate() {
      return rate;
    },
    set rate(chosen) {
      rate = chosen;
      for (const film of present()) film.playbackRate = chosen;
    },
    toggle() {
      if (paused) void Promise.all(present().map(play)).then(read);
      else for (const film of present()) film.pause();
    },
    seek(seconds) {
      const to = Math.min(duration, Math.max(0, seconds));
      for (const film of present()) film.currentTime = to;
      time = to;
    },
    join: (at) => (film) => {
      films[at] = film;
      // A film that is shown in another way begins where the other one is.
      untrack(() => {
        film.playbackRate = rate;
        film.currentTime = time;
      });
      const events = ['loadedmetadata', 'play', 'pause', 'seeked', 'ended'] as const;
      for (const event of events) film.addEventListener(event, read);
      return () => {
        for (const event of events) film.removeEventListener(event, read);
        film.pause();
        if (films[at] === film) films[at] = undefined;
        cancelAnimationFrame(request);
        paused = true;
      };
    },
  };
}

import type { ExportRate } from '@vitrine/contract/annotation-exports';
import { type FrameRate, frameAt, frameRateOf } from '@vitrine/contract/frames';
import type { MediaFacts } from '@vitrine/contract/media';

/** How the frames of a film are numbered and labelled. */
export interface Counting {
  rate: FrameRate;
  /** Labels leave out the numbers of frames that would let them fall behind the clock. */
  dropFrame: boolean;
  /** The number of the file's first frame on this count. */
  start: number;
}

const rates: Readonly<Record<ExportRate, { rate: FrameRate; dropFrame: boolean }>> = {
  '23.976': { rate: { num: 24_000, den: 1001 }, dropFrame: false },
  '24': { rate: { num: 24, den: 1 }, dropFrame: false },
  '25': { rate: { num: 25, den: 1 }, dropFrame: false },
  '29.97df': { rate: { num: 30_000, den: 1001 }, dropFrame: true },
  '29.97ndf': { rate: { num: 30_000, den: 1001 }, dropFrame: false },
  '30': { rate: { num: 30, den: 1 }, dropFrame: false },
  '50': { rate: { num: 50, den: 1 }, dropFrame: false },
  '59.94df': { rate: { num: 60_000, den: 1001 }, dropFrame: true },
  '59.94ndf': { rate: { num: 60_000, den: 1001 }, dropFrame: false },
  '60': { rate: { num: 60, den: 1 }, dropFrame: false },
};

/** For sounds and films whose rate is not known. */
const usual: FrameRate = { num: 25, den: 1 };

const MINUTES_PER_DAY = 24 * 60;

/** The frames that a label counts to before the next second. */
const wholeRate = ({ num, den }: FrameRate) => Math.round(num / den);

/** The numbers left out at the beginning of each minute but every tenth: 2 at 29.97, 4 at 59.94. */
const droppedPerMinute = (rate: FrameRate) => Math.round(wholeRate(rate) / 15);

/** Drop-frame labels exist at the rates of NTSC with 30 and 60 frames only. */
const canDrop = ({ num, den }: FrameRate) => den === 1001 && (num === 30_000 || num === 60_000);

/** Returns the number of the frame with this label, counted from 00:00:00:00. */
export function frameOfTimecode(timecode: string, rate: FrameRate): number {
  const [hours = 0, minutes = 0, seconds = 0, frames = 0] = timecode.split(/[:;]/).map(Number);
  const labelled = ((hours * 60 + minutes) * 60 + seconds) * wholeRate(rate) + frames;
  if (!timecode.includes(';') || !canDrop(rate)) return labelled;
  const minute = hours * 60 + minutes;
  return labelled - droppedPerMinute(rate) * (minute - Math.floor(minute / 10));
}

/** Returns the label of a frame, counted from 00:00:00:00; after 24 hours labels start again. */
export function timecodeOf(frame: number, { rate, dropFrame }: Pick<Counting, 'rate' | 'dropFrame'>): string {
  const whole = wholeRate(rate);
  const dropped = dropFrame ? droppedPerMinute(rate) : 0;
  const perMinute = 60 * whole - dropped;
  const perTenMinutes = 10 * perMinute + dropped;
  const perDay = (MINUTES_PER_DAY / 10) * perTenMinutes;
  const inDay = ((frame % perDay) + perDay) % perDay;
  const rest = inDay % perTenMinutes;
  // The first minute of ten has all numbers.
  const minutesIn = rest < 60 * whole ? 0 : 1 + Math.floor((rest - 60 * whole) / perMinute);
  const leftOut = dropped * (9 * Math.floor(inDay / perTenMinutes) + minutesIn);
  const label = inDay + leftOut;
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(label / whole);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60].map(two);
  return `${clock.join(':')}${dropFrame ? ';' : ':'}${two(label % whole)}`;
}

/** Returns how an export counts the frames of a film: at the wanted rate, otherwise at its own (ANNOTATION-13). */
export function countingOf(facts: MediaFacts, wanted: ExportRate | undefined): Counting {
  const own = frameRateOf(facts) ?? usual;
  const first = facts.start_timecode ?? '00:00:00:00';
  const firstFrame = frameOfTimecode(first, own);
  if (wanted === undefined)
    return { rate: own, dropFrame: first.includes(';') && canDrop(own), start: firstFrame };
  const { rate, dropFrame } = rates[wanted];
  // The same moment on the clock of the other count.
  const start = Math.round((firstFrame * own.den * rate.num) / (own.num * rate.den));
  return { rate, dropFrame, start };
}

/** A marker: its first frame, counted from the beginning of the file, and how many frames it lasts. */
export interface Span {
  frame: number;
  length: number;
}

/** Returns the frames of a moment or a range, at least one; the end of a range is exclusive. */
export function spanOf({ start, end }: { start: number; end?: number }, { rate }: Counting): Span {
  const frame = frameAt(start, rate);
  return { frame, length: Math.max(1, end === undefined ? 1 : frameAt(end, rate) - frame) };
}

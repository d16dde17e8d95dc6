/** Returns a number of a media element, or 0 while it is unknown. */
export function localNumber(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** Formats seconds as players do: `4:05`, `1:02:03`. */
export function clock(seconds: number): string {
  const whole = Math.floor(localNumber(seconds));
  const two = (part: number) => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Returns the seconds of a time in WebVTT, such as `1:02:03.500`. */
export function secondsOf(timestamp: string): number {
  return timestamp.split(':').reduce((total, part) => total * 60 + Number(part), 0);
}

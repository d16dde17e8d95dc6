/** Playback positions of videos and sounds, stored on this device only. */
const place = 'vitrine:positions';
/** Only the newest are kept. */
const most = 100;

type Positions = readonly (readonly [id: string, seconds: number])[];

function readAll(storage: Pick<Storage, 'getItem'>): Positions {
  try {
    const kept: unknown = JSON.parse(storage.getItem(place) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter(
      (entry: unknown): entry is [string, number] =>
        Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number',
    );
  } catch {
    return [];
  }
}

/** Returns the stored position in seconds; 0 if there is none or the file was played to the end. */
export function positionOf(storage: Pick<Storage, 'getItem'>, id: string): number {
  return readAll(storage).find(([key]) => key === id)?.[1] ?? 0;
}

/** Stores the position, except within the first and last seconds. */
export function keepPosition(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  id: string,
  seconds: number,
  duration: number,
): void {
  const others = readAll(storage).filter(([key]) => key !== id);
  const isWorth = seconds > 5 && seconds < duration - Math.min(10, duration * 0.05);
  const kept = isWorth ? [[id, Math.round(seconds * 10) / 10] as const, ...others] : others;
  try {
    storage.setItem(place, JSON.stringify(kept.slice(0, most)));
  } catch {
    // Playback must work even if the browser cannot store anything.
  }
}

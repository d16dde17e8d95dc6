import type { ExtractedValues } from '../../media/metadata/source.ts';

/** What a sidecar of an asset contains, and what one contained that it replaced. */
export interface KeptSidecar {
  kind: string;
  sources: ExtractedValues;
  former: ExtractedValues;
}

/** The greatest difference of local time from UTC, and the unit of time zones, in seconds. */
const FURTHEST_ZONE = 14 * 3600;
const ZONE_STEP = 15 * 60;

/**
 * Returns whether two moments are the same instant, of which one is written in local time. Google's files have UTC only,
 * and the camera's time is what people read from the clock (SIDECAR-8).
 */
function isSameInstant(camera: unknown, utc: unknown): boolean {
  if (typeof camera !== 'string' || typeof utc !== 'string' || !camera.includes('T')) return false;
  const local = Date.parse(`${camera.slice(0, 19)}Z`);
  const apart = Math.abs(local - Date.parse(utc)) / 1000;
  return apart <= FURTHEST_ZONE && apart % ZONE_STEP === 0;
}

/**
 * Returns what a JSON file of Takeout adds to the values of the file itself: its title is only the name of the file, and
 * its time has no zone.
 */
function besideEmbedded(values: ExtractedValues, sources: ExtractedValues): ExtractedValues {
  const { title, capture_datetime: taken } = values;
  const keepsTime = taken !== undefined && isSameInstant(taken.value, sources.capture_datetime?.value);
  return {
    ...sources,
    ...(title === undefined ? {} : { title }),
    ...(keepsTime ? { capture_datetime: taken } : {}),
  };
}

/** Returns the values of an asset, of its file and of its sidecars in the order of precedence, the lowest first. */
export function combined(embedded: ExtractedValues, sidecars: readonly KeptSidecar[]): ExtractedValues {
  const values = { ...embedded };
  for (const { kind, sources } of sidecars)
    Object.assign(values, kind === 'takeout' ? besideEmbedded(values, sources) : sources);
  return values;
}

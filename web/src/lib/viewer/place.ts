import { isolated, locale } from '#lib/languages/language.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { series } from '#lib/texts/series.ts';

/** A position on the map, in degrees; north and east are positive. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

const written = /^\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*$/;

/** Parses coordinates such as `54.321000, 10.134000`; undefined for anything else. */
function placeOf(text: string): Place | undefined {
  const [, latitude, longitude] = (written.exec(text) ?? []).map(Number);
  if (latitude === undefined || longitude === undefined) return undefined;
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : undefined;
}

/** Returns the first place among values of fields; undefined if none is a place. */
export function placeAmong(values: readonly { value_text?: string }[]): Place | undefined {
  return values
    .map(({ value_text }) => (value_text === undefined ? undefined : placeOf(value_text)))
    .find((place) => place !== undefined);
}

/** Returns a place in words, such as `48.14° N, 11.58° E`, with this number of decimals. */
export function placeName({ latitude, longitude }: Place, decimals: number): string {
  const { format } = new Intl.NumberFormat(locale(), {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  const [parallel, meridian] = [format(Math.abs(latitude)), format(Math.abs(longitude))];
  const northing = latitude < 0 ? phrase(`${parallel}° S`) : phrase(`${parallel}° N`);
  const easting = longitude < 0 ? phrase(`${meridian}° W`) : phrase(`${meridian}° E`);
  return isolated(series([northing, easting]));
}

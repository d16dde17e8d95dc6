import { createHash } from 'node:crypto';
import { shortened } from '../../content/assets/insert.ts';
import type { ReadSidecar } from '../../content/sidecars/read.ts';
import type { ExtractedValue, ExtractedValues } from '../../media/metadata/source.ts';
import { coordinates, moment } from '../../media/metadata/values.ts';
import type { Asset } from './answers.ts';

/** The tag of a favourite. */
const FAVOURITE = 'favourite';

const LONGEST_TAG = 64;
const FURTHEST_ZONE_MINUTES = 14 * 60;
const ZONE_STEP_MINUTES = 15;

/** Returns the offset of the clock from UTC, as `+02:00`; nothing if Immich knows no time zone. */
function offsetOf(local: string, utc: string | null | undefined, zone: string | null | undefined): string {
  if (utc == null || zone == null || zone === '') return '';
  const minutes = Math.round((Date.parse(local) - Date.parse(utc)) / 60_000);
  if (!(Math.abs(minutes) <= FURTHEST_ZONE_MINUTES) || minutes % ZONE_STEP_MINUTES !== 0) return '';
  const two = (number: number) => String(number).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** Returns a path of tags as tags: one for each level, because a search for a level finds what is below. */
function tagsOfPath(path: string): string[] {
  return path.split('/').flatMap((part) => {
    const clean = part
      .replaceAll(/\p{Cc}+/gu, ' ')
      .toWellFormed()
      .trim();
    return clean === '' ? [] : [shortened(clean, LONGEST_TAG).trim()];
  });
}

/** The tags of an asset: those of Immich, and that of a favourite. */
export function tagsOf({ isFavorite }: Asset, paths: readonly string[]): string[] {
  return [...new Set([...(isFavorite ? [FAVOURITE] : []), ...paths.flatMap(tagsOfPath)])];
}

function valuesOf({ exifInfo, people, localDateTime }: Asset): ExtractedValues {
  const names = (people ?? []).flatMap(({ name, isHidden }) =>
    isHidden === true || name.trim() === '' ? [] : [name.trim()],
  );
  const { latitude, longitude, rating, dateTimeOriginal: taken, timeZone } = exifInfo ?? {};
  const found: Partial<Record<keyof ExtractedValues, ExtractedValue['value'] | undefined>> = {
    city: exifInfo?.city?.trim(),
    country: exifInfo?.country?.trim(),
    rating: rating == null || rating === 0 ? undefined : rating,
    gps_coordinates: latitude == null || longitude == null ? undefined : coordinates(latitude, longitude),
    people: names.length === 0 ? undefined : [...new Set(names)],
    capture_datetime:
      taken == null
        ? undefined
        : moment(localDateTime.slice(0, 19), offsetOf(localDateTime, taken, timeZone)),
  };
  return Object.fromEntries(
    Object.entries(found).flatMap(([source, value]) =>
      value === undefined || value === '' ? [] : [[source, { value, from: 'file' as const }] as const],
    ),
  );
}

const LONGEST_DESCRIPTION = 20_000;

/** Returns the description of a file; empty if it has none. */
export function descriptionOf({ exifInfo }: Asset): string {
  return shortened((exifInfo?.description ?? '').toWellFormed().trim(), LONGEST_DESCRIPTION);
}

/** Returns what else Immich knows of a file as its metadata, which takes precedence over sidecars (SIDECAR-3). */
export function describedBy(asset: Asset): Omit<ReadSidecar, 'tags'> {
  const sources = valuesOf(asset);
  return {
    kind: 'immich',
    fileName: 'Immich',
    hash: createHash('sha256').update(JSON.stringify(sources)).digest('hex'),
    sources,
    raw: {},
  };
}

import { foldedFileName } from '@vitrine/contract/sidecars';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ExtractedValue, ExtractedValues } from '../../media/metadata/source.ts';
import { coordinates } from '../../media/metadata/values.ts';
import { titleFrom } from '../assets/insert.ts';

/** Metadata that Google Photos exports beside each file. Properties that are not used here are ignored. */
const Position = Type.Object({ latitude: Type.Number(), longitude: Type.Number() });
const TakeoutFile = Type.Object({
  title: Type.String({ maxLength: 10_000 }),
  description: Type.Optional(Type.String({ maxLength: 100_000 })),
  photoTakenTime: Type.Object({ timestamp: Type.String({ pattern: '^-?\\d{1,12}$' }) }),
  geoData: Type.Optional(Position),
  geoDataExif: Type.Optional(Position),
  people: Type.Optional(
    Type.Array(Type.Object({ name: Type.Optional(Type.String({ maxLength: 1000 })) }), { maxItems: 500 }),
  ),
  favorited: Type.Optional(Type.Boolean()),
});
type TakeoutFile = Static<typeof TakeoutFile>;

const isTakeout = Compile(TakeoutFile);

/** What a JSON file of Google Takeout says about a file. */
export interface Takeout {
  /** The name that the file had before it was shortened. */
  title: string;
  sources: ExtractedValues;
  isFavourite: boolean;
}

function sourcesOf({
  title,
  description,
  photoTakenTime,
  geoData,
  geoDataExif,
  people,
}: TakeoutFile): ExtractedValues {
  const at = new Date(Number(photoTakenTime.timestamp) * 1000);
  const taken = Number.isNaN(at.getTime()) ? '' : at.toISOString().replace('.000Z', 'Z');
  const place = [geoData, geoDataExif].flatMap(
    (position) =>
      (position === undefined ? undefined : coordinates(position.latitude, position.longitude)) ?? [],
  )[0];
  const names = [...new Set((people ?? []).flatMap(({ name }) => name?.trim() || []))];
  const found: Partial<Record<keyof ExtractedValues, ExtractedValue['value'] | undefined>> = {
    title: titleFrom(title),
    description: description?.trim(),
    capture_datetime: /^\d{4}-/.test(taken) && taken !== '1970-01-01T00:00:00Z' ? taken : undefined,
    gps_coordinates: place,
    people: names.length === 0 ? undefined : names,
  };
  const values = Object.entries(found).flatMap(([source, value]) =>
    value === undefined || value === '' ? [] : [[source, { value, from: 'file' as const }] as const],
  );
  return Object.fromEntries(values);
}

/** Reads a JSON file of Google Takeout; null if it is none. */
export function readTakeout(text: string): Takeout | null {
  try {
    const parsed: unknown = JSON.parse(text.replaceAll('\0', ''));
    if (!isTakeout.Check(parsed)) return null;
    return { title: parsed.title, sources: sourcesOf(parsed), isFavourite: parsed.favorited === true };
  } catch {
    return null;
  }
}

/** What Takeout adds to the name of a file, also in the part that remains of it when the name gets too long. */
const SUPPLEMENT = 'supplemental-metadata';

/** Names of this length may have lost their end. */
const SHORTENED = 40;

/** What Google adds to the name of an edited copy, which has no file of its own. */
const edited =
  /-(?:edited|bearbeitet|modifi[ée]|editado|editada|modificato|bewerkt|edytowane|redigerad|編集済み)$/u;

/** Returns the folded names that a JSON file may describe, best first: without the supplement and with its number inside. */
export function describedNames(jsonName: string): string[] {
  const name = foldedFileName(jsonName).replace(/\.json$/, '');
  const [, plain = name, number = ''] = /^(.*)(\(\d+\))$/.exec(name) ?? [];
  const cut = plain.lastIndexOf('.');
  const end = plain.slice(cut + 1);
  const isSupplement = cut > 0 && end !== '' && SUPPLEMENT.startsWith(end);
  const bases = isSupplement ? [plain.slice(0, cut), plain] : [plain];
  return bases.map((base) =>
    number === '' ? base : base.replace(/(\.[^.]*)?$/, (extension) => `${number}${extension}`),
  );
}

/**
 * Returns the files of a folder that a JSON file of Takeout describes: the file of that name and its edited copies, except
 * those that another JSON file describes by name. A name that was shortened counts only if exactly one file begins with it
 * (SIDECAR-8).
 */
export function takeoutTargets<T extends { readonly name: string }>(
  jsonName: string,
  files: readonly T[],
  described: ReadonlySet<string>,
): readonly T[] {
  const folded = files.map((file) => ({ file, name: foldedFileName(file.name) }));
  // `a-edited(1).jpg` is a copy of `a(1).jpg`.
  const original = (name: string) => {
    const [, stem = name, number = '', extension = ''] = /^(.+?)(\(\d+\))?(\.[^.]*)?$/.exec(name) ?? [];
    return `${stem.replace(edited, '')}${number}${extension}`;
  };
  const names = describedNames(jsonName);
  for (const wanted of names) {
    // A file may be named like an edited copy and have a JSON file of its own.
    const exact = folded.filter(
      ({ name }) => name === wanted || (original(name) === wanted && !described.has(name)),
    );
    if (exact.length > 0) return exact.map(({ file }) => file);
  }
  for (const wanted of names) {
    if (wanted.length < SHORTENED) continue;
    const beginning = folded.filter(({ name }) => name.startsWith(wanted));
    if (beginning.length === 1) return beginning.map(({ file }) => file);
  }
  return [];
}

/** The names of the people in the regions of a picture, which are read from their structures. */
export const PERSON_NAMES = 'XMP-mwg-rs:PersonNames';

type Entry = readonly [string, unknown];

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the name of a region if it is that of a person: others are pets, bar codes and where the lens was focused. */
function nameOf(region: unknown): string[] {
  if (!isRecord(region)) return [];
  const { Name: name, Type: type = 'Face' } = region;
  return type === 'Face' && typeof name === 'string' ? [name] : [];
}

/** Returns the names of people that a structure of regions of the Metadata Working Group has, as a tag of its own. */
export function personEntries(entries: readonly Entry[]): Entry[] {
  const names = entries.flatMap(([key, value]) => {
    if (!key.endsWith('XMP-mwg-rs:RegionInfo') || !isRecord(value)) return [];
    return [value.RegionList].flat().flatMap(nameOf);
  });
  return names.length === 0 ? [] : [[`XMP:${PERSON_NAMES}`, names]];
}

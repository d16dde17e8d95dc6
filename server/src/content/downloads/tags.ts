import { sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import type { Database } from '../../platform/database/pool.ts';
import { showValues } from '../fields/values/show.ts';

/** The tags of XMP and IPTC in which a file has what a field extracts, by source. */
const tagsOfSource: Readonly<Record<string, readonly string[]>> = {
  title: ['XMP-dc:Title', 'IPTC:ObjectName'],
  description: ['XMP-dc:Description', 'IPTC:Caption-Abstract'],
  creator: ['XMP-dc:Creator', 'IPTC:By-line'],
  copyright: ['XMP-dc:Rights', 'IPTC:CopyrightNotice'],
  credit: ['XMP-photoshop:Credit', 'IPTC:Credit'],
  keywords: ['XMP-dc:Subject', 'IPTC:Keywords'],
  rating: ['XMP-xmp:Rating'],
  city: ['XMP-photoshop:City', 'IPTC:City'],
  country: ['XMP-photoshop:Country', 'IPTC:Country-PrimaryLocationName'],
  capture_datetime: ['XMP-photoshop:DateCreated'],
};

/** A tag of ExifTool with its value; a list has one entry for each of its texts. */
export type WrittenTag = readonly [tag: string, value: string];

/**
 * Returns what a downloaded copy says of an asset, from the fields that the caller may read (DOWNLOAD-5): title,
 * description and keywords of the asset, and values of fields that are read from files.
 */
export async function tagsFor(db: Database, caller: Caller, assetId: string): Promise<WrittenTag[]> {
  const values = await showValues(db, caller, { kind: 'asset', id: assetId });
  const { rows } = await sql<{ id: string; source: string }>`
    select d.id, coalesce(nullif(d.extraction_source, ''), d.mirrors_column, d.code) as source from fields d
    where d.id = any(${values.map(({ field_id }) => field_id)}::uuid[])`.execute(db);
  const { rows: assets } = await sql<{ title: string; description: string; keywords: string[] }>`
    select a.title, a.description, array(select t.value from asset_tags t where t.asset_id = a.id
      order by t.position, t.value) as keywords
    from assets a where a.id = ${assetId} and ${liveAsset}`.execute(db);
  const sources = new Map(rows.map(({ id, source }) => [id, source]));
  const texts = new Map<string, readonly string[]>();
  const [asset] = assets;
  if (asset !== undefined) {
    texts.set('title', [asset.title]);
    texts.set('description', [asset.description]);
    texts.set('keywords', asset.keywords);
  }
  for (const value of values) {
    const labels = value.resolved_options?.map(({ label }) => label);
    const written = labels ?? [value.value_text ?? value.value_date ?? value.value_num?.toString() ?? ''];
    texts.set(sources.get(value.field_id) ?? '', written);
  }
  return Object.entries(tagsOfSource).flatMap(([source, tags]) =>
    (texts.get(source) ?? [])
      .filter((text) => text !== '')
      .flatMap((text) => tags.map((tag) => [tag, text] as const)),
  );
}

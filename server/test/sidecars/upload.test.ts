import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mostSidecarBytes } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { tagged } from '../extraction/files.ts';
import { stopTagging, tagFile } from '../media/tagged-files.ts';
import type { Visitor } from '../support/client.ts';
import { formOf, openLibrary, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';
import { darktable, digikam, immich, lightroom, photoprism, titled, withEntity } from './programs.ts';

const library = await openLibrary();
const root = library.anonymous();
await root.ok('completeSetup', { body: { username: 'root', password: 'correct horse battery' } });
const mara = await library.join('mara');
const noah = await library.join('noah');
const { items: mirrors } = await root.ok('listFields', { query: { limit: 200 } });
for (const { id, code } of mirrors)
  if (code === 'title' || code === 'description')
    await root.ok('setFieldExtraction', { params: { id }, body: { source: code } });
afterAll(stopTagging);

const bytesOf = (text: string) => plainText(text);

/** Uploads a sidecar and waits until the fields have its values. */
async function sendSidecar(account: Visitor, name: string, text: string | Uint8Array<ArrayBuffer>) {
  const body = formOf(typeof text === 'string' ? bytesOf(text) : text, {}, name);
  const answer = await account.ok('createAsset', { body });
  await library.runJobs();
  return answer;
}

/** Returns the title, the description and the values of an asset by the codes of their fields. */
async function described(account: Visitor, id: string): Promise<Record<string, unknown>> {
  const shown = await account.ok('getAsset', { params: { id } });
  if (shown.restricted) throw new Error('the owner is shown their asset');
  const { title, description } = shown;
  const { items } = await account.ok('listAssetFieldValues', { params: { id } });
  const labels = await sql<{
    value: string;
    label: string;
  }>`select value, label from field_terms`.execute(library.deps.db);
  const labelOf = new Map(labels.rows.map((row) => [row.value, row.label]));
  const values = items.map(({ field_id, value_text, value_num, value_date, value_options }) => [
    mirrors.find((field) => field.id === field_id)?.code,
    value_options?.map((option) => labelOf.get(option) ?? option) ?? value_date ?? value_num ?? value_text,
  ]);
  return { title, description, ...Object.fromEntries(values) };
}

describe('a sidecar reads back as it was written by', () => {
  // SIDECAR-1, SIDECAR-2, SIDECAR-7
  test.each([
    [
      'Lightroom',
      'lr.xmp',
      lightroom,
      {
        title: 'Bryggen at dawn',
        description: 'The wharf & the harbour',
        rating: 4,
        label: 'Red',
        keywords: ['wharf', 'Norway', 'Bergen'],
        people: ['Anna'],
        creator: 'Mara Lind',
        copyright: '© Mara Lind',
        credit: 'Fjord Agency',
        city: 'Bergen',
        country: 'Norway',
        capture_datetime: '2024-05-06T07:08:09+02:00',
        gps_coordinates: '60.393000, 5.324000',
      },
    ],
    [
      'darktable',
      'dt.jpg.xmp',
      darktable,
      {
        title: 'Rejected',
        description: '',
        rating: -1,
        label: 'Red, Blue',
        keywords: ['darktable', 'Alps', 'format'],
        capture_datetime: '2023-07-08T09:10:11Z',
      },
    ],
    [
      'digiKam',
      'DK.JPG.XMP',
      digikam,
      {
        title: 'dk',
        description: '',
        rating: 5,
        label: 'Green',
        keywords: ['Bea', 'Dogs'],
        people: ['Carl', 'Bea'],
      },
    ],
    [
      'Immich',
      'im.jpg.xmp',
      immich,
      {
        title: 'im',
        description: 'From the ferry',
        rating: 2,
        keywords: ['Ferry'],
        capture_datetime: '2022-08-09T10:11:12+01:00',
        gps_coordinates: '53.341667, -6.254167',
      },
    ],
    [
      'PhotoPrism',
      'pp.xmp',
      photoprism,
      {
        title: 'Night Snow',
        description: 'Snow at the station',
        keywords: ['snow', 'station'],
        people: ['Dora'],
        creator: 'Eve Holt',
        copyright: 'All rights reserved',
      },
    ],
  ])('%s', async (_, sidecar, text, values) => {
    const name = `${sidecar.toLowerCase().replace(/(?:\.jpg)?\.xmp$/, '')}.jpg`;
    const asset = await upload(mara, await tagged({}), {}, name);
    expect((await sendSidecar(mara, sidecar, text)).id).toBe(asset.id);
    expect(await described(mara, asset.id)).toEqual(values);
  });

  // SIDECAR-7
  test('ExifTool, also in another encoding', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'vitrine-sidecar-'));
    const path = join(directory, 'et.xmp');
    await writeFile(path, titled(''));
    await tagFile(path, {
      'XMP-dc:Title': 'Þing — 東京',
      'XMP-dc:Description': 'Two, lines',
      'XMP-dc:Subject': ['å', 'b, c'],
      'XMP-xmp:Rating': '3',
      'XMP-xmp:Label': 'Grün',
      'XMP-iptcExt:PersonInImage': ['Åsa', 'Bo'],
      'XMP-dc:Rights': 'CC BY',
    });
    const text = await readFile(path, 'utf8');
    await rm(directory, { recursive: true });
    const values = {
      title: 'Þing — 東京',
      description: 'Two, lines',
      keywords: ['å', 'b, c'],
      rating: 3,
      label: 'Grün',
      people: ['Åsa', 'Bo'],
      copyright: 'CC BY',
    };
    const asset = await upload(mara, await tagged({}), {}, 'et.jpg');
    const utf16 = Uint8Array.from(Buffer.from(`\ufeff${text}`, 'utf16le'));
    await sendSidecar(mara, 'et.jpg.xmp', utf16);
    expect(await described(mara, asset.id)).toEqual(values);
  });
});

describe('a sidecar', () => {
  // SIDECAR-3, SIDECAR-4, EXTRACT-3
  test('precedes the metadata in the file property by property, and what people wrote precedes it', async () => {
    const tags = { 'XMP-dc:Title': 'Embedded', 'XMP-photoshop:City': 'Oslo', 'XMP-dc:Rights': 'Embedded' };
    const asset = await upload(mara, await tagged(tags), {}, 'order.jpg');
    await library.runJobs();
    const find = (code: string) => mirrors.find((field) => field.code === code)?.id ?? '';
    const written = { field_id: find('copyright'), value_text: 'By hand' };
    await mara.ok('setAssetFieldValue', {
      params: { id: asset.id, field_id: written.field_id },
      body: { value_text: 'By hand' },
    });
    await sendSidecar(mara, 'order.xmp', lightroom);
    expect(await described(mara, asset.id)).toMatchObject({
      title: 'Bryggen at dawn',
      city: 'Bergen',
      copyright: 'By hand',
    });
    await sendSidecar(mara, 'order.jpg.xmp', titled('Named'));
    expect(await described(mara, asset.id)).toMatchObject({ title: 'Named', city: 'Bergen' });
    // A later one without the extension has a lower precedence, and what it lacks comes from the file again.
    await sendSidecar(mara, 'order.xmp', titled('Without extension'));
    expect(await described(mara, asset.id)).toMatchObject({ title: 'Named', city: 'Oslo' });
    await mara.ok('updateAsset', { params: { id: asset.id }, body: { title: 'Mine' } });
    await sendSidecar(mara, 'order.jpg.xmp', titled('Named again'));
    expect(await described(mara, asset.id)).toMatchObject({ title: 'Mine' });
  });

  // SIDECAR-2
  test('belongs to a raw file before its JPEG, and to the newest file of a name', async () => {
    const raw = await upload(mara, await tagged({}), {}, 'both.cr2');
    await upload(mara, await tagged({}), {}, 'both.jpg');
    expect((await sendSidecar(mara, 'both.xmp', titled('Raw'))).id).toBe(raw.id);
    const jpeg = await upload(mara, await tagged({}), {}, 'Both.JPG');
    expect((await sendSidecar(mara, 'both.jpg.xmp', titled('JPEG'))).id).toBe(jpeg.id);
  });

  // SIDECAR-1, SIDECAR-2
  test('without a file of its own account is a file like any other', async () => {
    const { id } = await upload(mara, await tagged({}), {}, 'hers.jpg');
    const sent = await noah.ok('createAsset', {
      body: formOf(bytesOf(titled('Stolen')), {}, 'hers.jpg.xmp'),
    });
    await library.runJobs();
    expect(sent.id).not.toBe(id);
    expect(await described(mara, id)).toMatchObject({ title: 'hers' });
  });

  // SIDECAR-6
  test('with entities, of more than 16 MiB, or without XMP is refused', async () => {
    await upload(mara, await tagged({}), {}, 'bad.jpg');
    const refusal = async (text: string | Uint8Array<ArrayBuffer>) => {
      const bytes = typeof text === 'string' ? bytesOf(text) : text;
      const { status, error } = await mara.refused('createAsset', { body: formOf(bytes, {}, 'bad.jpg.xmp') });
      return [status, error];
    };
    const noEntities = [400, 'a sidecar has no document type and no entities'];
    expect(await refusal(withEntity)).toEqual(noEntities);
    expect(await refusal(Uint8Array.from(Buffer.from(`\ufeff${withEntity}`, 'utf16le')))).toEqual(noEntities);
    expect(await refusal(new Uint8Array(mostSidecarBytes + 1))).toEqual([
      413,
      'a sidecar has at most 16777216 bytes',
    ]);
    expect(await refusal('no XMP')).toEqual([
      400,
      expect.stringMatching(/^the sidecar cannot be read as XMP: /),
    ]);
  });
});

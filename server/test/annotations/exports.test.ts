import { PDFDocument } from '@cantoo/pdf-lib';
import type { Anchor } from '@vitrine/contract/annotations';
import { basePath } from '@vitrine/contract/operations';
import { DOMParser } from '@xmldom/xmldom';
import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import {
  countingOf,
  frameOfTimecode,
  spanOf,
  timecodeOf,
} from '../../src/content/annotations/exports/timecode.ts';
import { canDraw } from '../../src/media/typesetting/faces.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { columnsOf, countBoxes, readSheet, textOfSheet } from './sheets.ts';

const fractions = {
  '23.976': [24_000, 1001, false],
  '24': [24, 1, false],
  '25': [25, 1, false],
  '29.97df': [30_000, 1001, true],
  '29.97ndf': [30_000, 1001, false],
  '30': [30, 1, false],
  '50': [50, 1, false],
  '59.94df': [60_000, 1001, true],
  '59.94ndf': [60_000, 1001, false],
  '60': [60, 1, false],
} as const;
type Rate = keyof typeof fractions;
const rates = Object.keys(fractions) as Rate[];
const counting = (name: Rate) => {
  const [num, den, dropFrame] = fractions[name];
  return { rate: { num, den }, dropFrame, start: 0 };
};

// ANNOTATION-13
describe('timecodes', () => {
  // The tables of SMPTE ST 12-1: numbers are left out each minute, except every tenth.
  test.each<[Rate, number, string]>([
    ['23.976', 86_400, '01:00:00:00'],
    ['24', 47, '00:00:01:23'],
    ['25', 90_000, '01:00:00:00'],
    ['29.97df', 1799, '00:00:59;29'],
    ['29.97df', 1800, '00:01:00;02'],
    ['29.97df', 3597, '00:01:59;29'],
    ['29.97df', 3598, '00:02:00;02'],
    ['29.97df', 17_981, '00:09:59;29'],
    ['29.97df', 17_982, '00:10:00;00'],
    ['29.97df', 107_892, '01:00:00;00'],
    ['29.97df', 2_589_407, '23:59:59;29'],
    ['29.97df', 2_589_408, '00:00:00;00'],
    ['29.97ndf', 1800, '00:01:00:00'],
    ['30', 108_000, '01:00:00:00'],
    ['50', 99, '00:00:01:49'],
    ['59.94df', 3599, '00:00:59;59'],
    ['59.94df', 3600, '00:01:00;04'],
    ['59.94df', 35_964, '00:10:00;00'],
    ['59.94ndf', 3600, '00:01:00:00'],
    ['60', 216_000, '01:00:00:00'],
  ])('at %s, frame %i is %s', (rate, frame, label) => {
    expect(timecodeOf(frame, counting(rate))).toBe(label);
    expect(frameOfTimecode(label, counting(rate).rate)).toBe(frame % 2_589_408);
  });

  test.each(rates)('at %s, every label names one frame', (rate) => {
    for (let frame = 0; frame < 40_000; frame += 7)
      expect(frameOfTimecode(timecodeOf(frame, counting(rate)), counting(rate).rate)).toBe(frame);
  });

  test.each(rates)('at %s, the start of a frame cut to microseconds is in that frame', (rate) => {
    const { num, den } = counting(rate).rate;
    for (let frame = 0; frame < 5000; frame += 10) {
      const start = Math.floor(((frame * den) / num) * 1e6) / 1e6;
      expect(spanOf({ start }, counting(rate))).toEqual({ frame, length: 1 });
    }
  });

  test('begin at that of the file, on the clock of the wanted rate', () => {
    const facts = { exact_frame_rate: '30000/1001', start_timecode: '01:00:00;00' };
    expect(countingOf(facts, undefined)).toEqual({
      rate: { num: 30_000, den: 1001 },
      dropFrame: true,
      start: 107_892,
    });
    expect(countingOf(facts, '29.97ndf')).toMatchObject({ dropFrame: false, start: 107_892 });
    expect(countingOf(facts, '59.94df')).toMatchObject({ dropFrame: true, start: 215_784 });
    expect(countingOf({ frame_rate: 25, start_timecode: '10:00:00:00' }, undefined).start).toBe(900_000);
  });
});

const library = await openLibrary();
const { db } = library.deps;
const [mara, ines, otto] = await library.joinAll('mara', 'ines', 'otto');
const film = await upload(mara, plainFile('film'), { title: 'Reel; "one" & <two>\nnext line' });
const still = await upload(mara, plainFile('still'));
const secret = await upload(mara, plainFile('secret'), { sensitivity: 'restricted' });
const media = { duration_seconds: 600, exact_frame_rate: '24000/1001', start_timecode: '01:00:00:00' };
await db
  .updateTable('files')
  .set({ mime: 'video/mp4', media: JSON.stringify(media) })
  .where('hash', 'in', [String(film.file_hash), String(secret.file_hash)])
  .execute();
const post = (await publish(mara, [still, film, secret], { visibility: 'public' })).id;

afterEach(async () => {
  await db.deleteFrom('comments').execute();
});

const annotate = (caller: Visitor, anchor: Anchor, body: string, asset_id = film.id) =>
  caller.ok('createAnnotation', { params: { id: post }, body: { asset_id, anchor, body } });
const fileOf = async (caller: Visitor, path: string) => {
  const { status, text, headers } = await caller.send(path);
  return { status, text, headers };
};
/** As OpenTimelineIO has it. */
interface Marker {
  marked_range: { start_time: { value: number; rate: number } };
}

const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true });

/** Moments of frames of the film, and a range. */
const moments = [0, 1, 23, 24, 1439, 1440, 8000];
const annotateMoments = async () => {
  for (const frame of moments) {
    const start = Math.floor(((frame * 1001) / 24_000) * 1e6) / 1e6;
    await annotate(ines, { kind: 'time', start }, `at ${frame}`);
  }
  await annotate(ines, { kind: 'time', start: 2.002, end: 3.003 }, 'range');
};

// ANNOTATION-12, ANNOTATION-13
describe('exports of a film', () => {
  test('name the same frames in every form', async () => {
    await annotateMoments();
    const table = rowsOf((await fileOf(mara, `/assets/${film.id}/annotations.csv`)).text);
    const expected = [...moments, 48].sort((a, b) => a - b);
    expect(table.map(({ frame }) => Number(frame))).toEqual(expected);
    const labels = expected.map((frame) => timecodeOf(86_400 + frame, counting('23.976')));
    expect(table.map(({ timecode }) => timecode)).toEqual(labels);
    expect(table.find(({ body }) => body === 'range')).toMatchObject({
      end_frame: '72',
      end_timecode: '01:00:03:00',
    });

    const edl = (await fileOf(mara, `/assets/${film.id}/annotations.edl`)).text;
    const events = [...edl.matchAll(/^(\d{3,}) {2}AX {7}V {5}C {8}(\S+) (\S+) \2 \3$/gm)];
    expect(events.map(([, , from]) => from)).toEqual(labels);
    expect(events.map(([, number]) => Number(number))).toEqual(expected.map((_, index) => index + 1));
    const ends = events.map(([, , , to]) => frameOfTimecode(String(to), counting('23.976').rate) - 86_400);
    expect(ends).toEqual(expected.map((frame) => (frame === 48 ? 72 : frame + 1)));
    expect(edl).toContain('* LOC: 01:00:01:00 RED ines: at 24\n');

    const otio = JSON.parse((await fileOf(mara, `/assets/${film.id}/annotations.otio`)).text);
    const [clip] = otio.tracks.children[0].children;
    expect(clip.markers.map((marker: Marker) => marker.marked_range.start_time.value)).toEqual(expected);
    expect(clip.markers[0].marked_range.start_time.rate).toBeCloseTo(23.976, 3);
    expect(otio.global_start_time.value).toBe(86_400);

    const xml = (await fileOf(mara, `/assets/${film.id}/annotations.fcpxml`)).text;
    const markers = [...new DOMParser().parseFromString(xml, 'text/xml').getElementsByTagName('marker')];
    const framesIn = (time: string | null) => {
      const [num = 0, den = 1] = (time ?? '').replace('s', '').split('/').map(Number);
      return ((num / den) * 24_000) / 1001;
    };
    expect(markers.map((marker) => Math.round(framesIn(marker.getAttribute('start')) * 1e6) / 1e6)).toEqual(
      expected,
    );
    expect(markers.map((marker) => marker.getAttribute('value'))).toContain('ines: range');
  });

  test('count the moments of an earlier version at its own rate', async () => {
    const [cut, recut] = [await upload(mara, plainFile('cut')), await upload(mara, plainFile('recut'))];
    const [before, after] = [String(cut.file_hash), String(recut.file_hash)];
    for (const [hash, frame_rate] of [
      [before, 24],
      [after, 50],
    ] as const)
      await db
        .updateTable('files')
        .set({ mime: 'video/mp4', media: JSON.stringify({ duration_seconds: 60, frame_rate }) })
        .where('hash', '=', hash)
        .execute();
    const { id } = await publish(mara, [cut]);
    const anchor = { kind: 'time', start: 2 } as const;
    const annotation = { params: { id }, body: { asset_id: cut.id, anchor, body: 'here' } };
    await mara.ok('createAnnotation', annotation);
    await sql`insert into asset_versions (asset_id, number, file_hash, file_name)
      values (${cut.id}, 1, ${before}, 'cut'), (${cut.id}, 2, ${after}, 'recut')`.execute(db);
    await db.updateTable('assets').set({ file_hash: after }).where('id', '=', cut.id).execute();
    await mara.ok('createAnnotation', annotation);
    const table = rowsOf((await fileOf(mara, `/assets/${cut.id}/annotations.csv`)).text);
    expect(table.map(({ version, frame }) => [version, frame])).toEqual([
      ['1', '48'],
      ['2', '100'],
    ]);
  });

  test.each(rates)('count at %s if asked to', async (rate) => {
    await annotate(ines, { kind: 'time', start: 61 }, 'x');
    const [num, den, drops] = fractions[rate];
    const frame = Math.floor((61 * num) / den + 0.001);
    const [row] = rowsOf((await fileOf(mara, `/assets/${film.id}/annotations.csv?rate=${rate}`)).text);
    expect(Number(row?.frame)).toBe(frame);
    const edl = (await fileOf(mara, `/assets/${film.id}/annotations.edl?rate=${rate}`)).text;
    expect(edl).toContain(drops ? 'FCM: DROP FRAME' : 'FCM: NON-DROP FRAME');
    const label = String(/^001 .* C {8}(\S+)/m.exec(edl)?.[1]);
    expect(row?.timecode).toBe(label);
    // The film starts at 3603.6 seconds of its own clock.
    expect(frameOfTimecode(label, { num, den })).toBe(Math.round((3603.6 * num) / den) + frame);
    const otio = JSON.parse((await fileOf(mara, `/assets/${film.id}/annotations.otio?rate=${rate}`)).text);
    expect(otio.tracks.children[0].children[0].markers[0].marked_range.start_time.value).toBe(frame);
    const xml = (await fileOf(mara, `/assets/${film.id}/annotations.fcpxml?rate=${rate}`)).text;
    expect(xml).toContain(`<marker start="${frame * den}/${num}s" duration="${den}/${num}s"`);
    expect(xml).toContain(`tcFormat="${drops ? 'DF' : 'NDF'}"`);
  });

  test('have 5,000 markers, which threads page through and count', async () => {
    await sql`with made as (
        insert into comments (post_id, annotated_asset_id, author_user_ref, body)
        select ${post}::uuid, ${film.id}::uuid, ${ines.ref}::bigint, 'at ' || n from generate_series(0, 4999) n returning id, body)
      insert into annotations (comment_id, version, anchor)
      select id, 1, jsonb_build_object('kind', 'time', 'start', substr(body, 4)::integer / 10.0) from made`.execute(
      db,
    );
    const params = { id: post };
    const { annotation_counts } = await otto.ok('getPost', { params });
    expect(annotation_counts).toEqual([{ asset_id: film.id, open: 5000, resolved: 0 }]);
    const query = { asset_id: film.id, limit: 200 };
    const first = await otto.ok('listComments', { params, query });
    const cursor = first.next_cursor ?? '';
    const second = await otto.ok('listComments', { params, query: { ...query, cursor } });
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(400);
    const table = rowsOf((await fileOf(otto, `/assets/${film.id}/annotations.csv`)).text);
    expect(table.map(({ body }) => body)).toEqual(Array.from({ length: 5000 }, (_, n) => `at ${n}`));
    const edl = (await fileOf(otto, `/assets/${film.id}/annotations.edl`)).text;
    expect(edl.match(/^\* LOC: /gm)).toHaveLength(5000);
  });

  test('refuse other files and unknown rates', async () => {
    for (const form of ['edl', 'otio', 'fcpxml']) {
      expect((await fileOf(mara, `/assets/${still.id}/annotations.${form}`)).status).toBe(409);
      expect((await fileOf(mara, `/assets/${film.id}/annotations.${form}?rate=26`)).status).toBe(400);
      expect((await fileOf(ines, `/assets/${secret.id}/annotations.${form}`)).status).toBe(404);
      expect((await fileOf(ines, `/assets/${nowhere}/annotations.${form}`)).status).toBe(404);
      // Without annotations they are valid all the same.
      expect((await fileOf(mara, `/assets/${film.id}/annotations.${form}`)).status).toBe(200);
    }
  });
});

// ANNOTATION-12
describe('texts in exports', () => {
  const nasty = '=cmd()\r\n* LOC: 00:00:00:00 RED forged\u2028\u0000<b>&"]]>'.replaceAll('\u0000', '\u0001');

  test('are on one line, escaped, and no formula', async () => {
    await annotate(ines, { kind: 'time', start: 1 }, nasty);
    const [row] = rowsOf((await fileOf(mara, `/assets/${film.id}/annotations.csv`)).text);
    expect(row?.body).toBe(`'=cmd() * LOC: 00:00:00:00 RED forged <b>&"]]>`);
    expect(row?.file).toBe('Reel; "one" & <two> next line');
    const edl = (await fileOf(mara, `/assets/${film.id}/annotations.edl`)).text;
    expect(edl.match(/^\* LOC:/gm)).toHaveLength(1);
    expect(edl).toMatch(/^TITLE: Reel; "one" & <two> next line$/m);
    const xml = (await fileOf(mara, `/assets/${film.id}/annotations.fcpxml`)).text;
    const document = new DOMParser().parseFromString(xml, 'text/xml');
    const [marker] = [...document.getElementsByTagName('marker')];
    expect(marker?.getAttribute('value')).toBe('ines: =cmd() * LOC: 00:00:00:00 RED forged <b>&"]]>');
    const { headers } = await fileOf(mara, `/assets/${film.id}/annotations.csv`);
    expect(headers.get('content-disposition')).toBe('attachment; filename="annotations.csv"');
  });
});

// ANNOTATION-5, ANNOTATION-12
test('the CSV of a post has the annotations of the files that the caller is shown', async () => {
  await annotate(ines, { kind: 'region', x: 0.25, y: 0.5, w: 0.1, h: 0.2 }, 'on the still', still.id);
  const timed = await annotate(ines, { kind: 'time', start: 1 }, 'on the film');
  await annotate(mara, { kind: 'time', start: 1 }, 'hidden', secret.id);
  await ines.ok('createComment', { params: { id: post }, body: { body: 'no annotation' } });
  await ines.ok('resolveComment', { params: { id: timed.id } });
  const bodies = async (caller: Visitor) =>
    rowsOf((await fileOf(caller, `/posts/${post}/annotations.csv`)).text).map(({ body }) => body);
  expect(await bodies(mara)).toEqual(['on the still', 'on the film', 'hidden']);
  expect(await bodies(otto)).toEqual(['on the still', 'on the film']);
  const rows = rowsOf((await fileOf(otto, `/posts/${post}/annotations.csv`)).text);
  expect(rows[0]).toMatchObject({
    kind: 'region',
    x: '0.25',
    y: '0.5',
    w: '0.1',
    h: '0.2',
    state: 'open',
    frame: '',
  });
  expect(rows[1]).toMatchObject({ state: 'resolved', author: 'ines', frame: '23', file: expect.any(String) });
  expect((await fileOf(otto, `/assets/${film.id}/annotations.csv`)).text).not.toContain('hidden');
  expect((await fileOf(otto, `/posts/${nowhere}/annotations.csv`)).status).toBe(404);
});

async function bytesOf(caller: Visitor, path: string) {
  const headers = { cookie: `user=${caller.cookie() ?? ''}` };
  const answer = await fetch(`${library.address}${basePath}${path}`, { headers });
  return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
}

// ANNOTATION-14
describe('pictures of annotations', () => {
  test('are contact sheets as PDF, with texts of any script', async () => {
    await annotate(ines, { kind: 'point', x: 0, y: 1 }, 'Grüße, 世界, \u{1f600} and العربية', still.id);
    await annotate(ines, { kind: 'page', page: 2, x: 0.5, y: 0.5 }, 'word '.repeat(2000).trim(), still.id);
    await annotate(ines, { kind: 'time', start: 1 }, 'plain words');
    await annotate(
      mara,
      {
        kind: 'shape',
        points: [
          [0, 0],
          [1, 1],
          [0, 1],
        ],
      },
      'hidden',
      secret.id,
    );
    for (const path of [`/posts/${post}/annotations.pdf`, `/assets/${still.id}/annotations.pdf`]) {
      const { type, bytes } = await bytesOf(otto, path);
      expect(type).toBe('application/pdf');
      const document = await PDFDocument.load(bytes);
      expect(document.getPageCount()).toBeGreaterThan(1);
    }
    expect((await fileOf(ines, `/assets/${secret.id}/annotations.pdf`)).status).toBe(404);
  });

  // LANGUAGE-4
  const sheetFor = async (language: string) => {
    await otto.ok('updatePreferences', { body: { language } });
    const { bytes } = await bytesOf(otto, `/assets/${still.id}/annotations.pdf`);
    await otto.ok('updatePreferences', { body: { language: '' } });
    return bytes;
  };

  test('have the words of the reader', async () => {
    expect(await textOfSheet(await sheetFor('de'))).toContain('Es gibt keine Anmerkungen.');
    for (const [language, text] of [
      ['ar', 'لا توجد تعليقات توضيحية.'],
      ['he', 'אין הערות.'],
    ] as const) {
      const bytes = await sheetFor(language);
      const [page] = await readSheet(bytes);
      expect(page?.lines).toContain(text);
      expect(await countBoxes(bytes)).toBe(0);
    }
  });

  test('are mirrored for readers of Arabic, and every text keeps its own direction', async () => {
    const place = { kind: 'page', page: 1, x: 0.5, y: 0.5 } as const;
    await annotate(ines, place, 'السماء زرقاء (جدا) صفحة 3', still.id);
    await annotate(ines, place, 'A blue sky', still.id);
    const [latin] = await readSheet(await sheetFor('en'));
    const bytes = await sheetFor('ar');
    const [arabic] = await readSheet(bytes);
    expect(latin?.lines).toEqual(expect.arrayContaining(['2 ines · page 1', 'A blue sky']));
    expect(arabic?.lines).toEqual(expect.arrayContaining(['السماء زرقاء (جدا) صفحة 3', '2 ines · الصفحة 1']));
    expect(await countBoxes(bytes)).toBe(0);
    // A4 is 595 points wide, and its margins are 40.
    const [fromLeft, fromRight] = [columnsOf(latin, 41), columnsOf(arabic, 41)];
    expect([fromLeft.first, 595 - fromRight.last]).toEqual([
      expect.closeTo(41, -0.5),
      expect.closeTo(41, -0.5),
    ]);
    expect(fromLeft.last).toBeLessThan(297);
    expect(fromRight.first).toBeGreaterThan(297);
  });

  test('have letters of the scripts of the bundled typefaces only', () => {
    for (const face of ['regular', 'bold'] as const) {
      for (const text of [
        'Grüße',
        'Ελληνικά',
        'Русский',
        'العربية',
        'עברית',
        '中文',
        '日本語',
        'かな',
        '한국어',
      ])
        expect(canDraw(face, text), text).toBe(true);
      for (const text of ['ไทย', 'हिन्दी']) expect(canDraw(face, text), text).toBe(false);
    }
  });

  test('have each glyph once, so that long texts of large scripts stay small', async () => {
    const characters = Array.from({ length: 400 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join(
      '',
    );
    for (let count = 0; count < 10; count += 1)
      await annotate(ines, { kind: 'point', x: 0.5, y: 0.5 }, `${count}${characters.repeat(10)}`, still.id);
    const { bytes } = await bytesOf(ines, `/assets/${still.id}/annotations.pdf`);
    const document = await PDFDocument.load(bytes);
    expect(document.getPageCount()).toBeGreaterThan(5);
    // 400 glyphs take 0.2 MB. 20,000 of them, each with its own path, take several.
    expect(bytes.length).toBeLessThan(1_000_000);
  });
});

import { describe, expect, test } from 'vitest';
import { boxText } from '#lib/browsing/map-view.ts';
import { layOutMonths, monthAt, monthName, tilesBetween, yearMarks } from '#lib/browsing/months.ts';
import { flatPolygons } from '#lib/browsing/outline.ts';
import { placeName } from '#lib/viewer/place.ts';

const months = [
  { month: '2020-01', count: 1 },
  { month: '2019-12', count: 1_000_000 },
  { month: null, count: 7 },
];

describe('the timeline', () => {
  test('has room for every file before any is read, and renders the rows near the window only', () => {
    const sheet = layOutMonths(months, 1192);
    expect([sheet.columns, sheet.tile]).toEqual([8, 142]);
    const [first, second, last] = sheet.sections;
    expect(first).toMatchObject({ top: 0, height: 44 + 142 });
    expect(second).toMatchObject({ top: 206, height: 44 + 125_000 * 150 - 8 });
    expect(sheet.height).toBe((last?.top ?? 0) + (last?.height ?? 0));
    const section = second ?? first;
    if (section === undefined) throw new Error('no section');
    const from = section.top + 44 + 1000 * 150;
    const tiles = tilesBetween(section, sheet, from + 1, from + 299);
    expect(tiles.map(({ index }) => index)).toEqual(Array.from({ length: 16 }, (_, at) => 8000 + at));
    expect(tiles[8]).toMatchObject({ left: 0, top: 44 + 1001 * 150 });
    expect(tilesBetween(section, sheet, 0, 10)).toEqual([]);
    expect(layOutMonths(months, 0).sections).toEqual([]);
  });

  test('knows the month at each height', () => {
    const { sections } = layOutMonths(months, 1192);
    const at = [-10, 0, 205, 206, 1e6, 1e9].map((height) => monthAt(sections, height));
    expect(at).toEqual([0, 0, 0, 1, 1, 2]);
  });

  test('shows the years 1 and 9999 as they are', () => {
    expect(monthName('0001-01')).toBe('January 1');
    expect(monthName('9999-12')).toBe('December 9999');
    expect(monthName(null)).toBe('Unknown date');
    const marks = yearMarks(['9999-12', '2019-12', '2019-11', '0001-01', null], 400);
    expect(marks.map(({ year }) => year)).toEqual(['9999', '2019', '1']);
    expect(yearMarks(['2020-01', '2019-01', '2018-01'], 30).map(({ year }) => year)).toEqual([
      '2020',
      '2018',
    ]);
  });
});

test('no country reaches across the whole map', () => {
  const ring = [
    [170, 60],
    [-170, 60],
    [-170, 70],
    [170, 70],
    [170, 60],
  ];
  const widths = flatPolygons([ring]).map(([outer = []]) => {
    const longitudes = outer.map(([lon = 0]) => lon);
    return [Math.min(...longitudes), Math.max(...longitudes)];
  });
  expect(widths).toEqual([
    [170, 190],
    [-190, -170],
  ]);
});

test('a map asks for places inside the world only', () => {
  expect(boxText({ west: -200, south: -95, east: 190.5, north: 10 })).toBe(
    '-180.00000,-90.00000,180.00000,10.00000',
  );
});

test('a place has a name with its hemispheres', () => {
  expect(placeName({ latitude: 48.137, longitude: -11.576 }, 2)).toBe('48.14° N, 11.58° W');
});

import { expect, test } from 'vitest';
import { combined } from '../../src/content/sidecars/combine.ts';
import { describedNames, readTakeout, takeoutTargets } from '../../src/content/sidecars/takeout.ts';

const long = 'PXL_20240506_070809123.NIGHT.ORIGINAL.of.the.harbour.jpg';

// SIDECAR-8
test.each([
  ['a.jpg.json', ['a.jpg', 'b.jpg'], ['a.jpg']],
  ['IMG_1234.jpg.supplemental-metadata.json', ['IMG_1234.jpg', 'IMG_1234.png'], ['IMG_1234.jpg']],
  ['IMG_1234.jpg.supplemental-metada.json', ['img_1234.JPG', 'IMG_12345.jpg'], ['img_1234.JPG']],
  ['IMG_1234.jpg.s.json', ['IMG_1234.jpg'], ['IMG_1234.jpg']],
  ['IMG_1234.jpg(1).json', ['IMG_1234.jpg', 'IMG_1234(1).jpg'], ['IMG_1234(1).jpg']],
  ['IMG_1234.jpg.supplemental-metadata(2).json', ['IMG_1234(2).jpg', 'IMG_1234.jpg'], ['IMG_1234(2).jpg']],
  [
    'a.jpg.json',
    ['a.jpg', 'a-edited.jpg', 'a-bearbeitet.jpg'],
    ['a.jpg', 'a-edited.jpg', 'a-bearbeitet.jpg'],
  ],
  ['a-edited.jpg.json', ['a-edited.jpg', 'b.jpg'], ['a-edited.jpg']],
  ['a.jpg(1).json', ['a.jpg', 'a(1).jpg', 'a-edited(1).jpg'], ['a(1).jpg', 'a-edited(1).jpg']],
  [`${long.slice(0, 46)}.json`, [`${long.slice(0, 47)}.jpg`, 'a.jpg'], [`${long.slice(0, 47)}.jpg`]],
  [`${long.slice(0, 46)}.json`, [`${long.slice(0, 47)}.jpg`, `${long.slice(0, 47)}(1).jpg`], []],
  ['IMG_12.json', ['IMG_1234.jpg'], []],
])('the JSON file %s beside %j belongs to %j', (json, names, targets) => {
  const files = names.map((name) => ({ name }));
  expect(takeoutTargets(json, files, new Set(describedNames(json))).map(({ name }) => name)).toEqual(targets);
});

// SIDECAR-8
test('an edited copy with a JSON file of its own belongs to that one only', () => {
  const jsons = ['a.jpg.json', 'a-edited.jpg.supplemental-metadata.json'];
  const files = ['a.jpg', 'a-edited.jpg', 'a-bearbeitet.jpg'].map((name) => ({ name }));
  const described = new Set(jsons.flatMap(describedNames));
  const named = (json: string) => takeoutTargets(json, files, described).map(({ name }) => name);
  expect(jsons.map(named)).toEqual([['a.jpg', 'a-bearbeitet.jpg'], ['a-edited.jpg']]);
});

const json = {
  title: 'IMG_1234.jpg',
  description: 'At the fjord',
  photoTakenTime: { timestamp: '1714972089', formatted: '06.05.2024, 05:08:09 UTC' },
  geoData: { latitude: 60.393, longitude: 5.324, altitude: 12, latitudeSpan: 0, longitudeSpan: 0 },
  people: [{ name: 'Anna' }, { name: 'Bo' }, {}],
  favorited: true,
};

// SIDECAR-8
test('a JSON file of Takeout gives title, description, time, place, people and favourites', () => {
  expect(readTakeout(JSON.stringify(json))).toEqual({
    title: 'IMG_1234.jpg',
    isFavourite: true,
    sources: {
      title: { value: 'IMG_1234', from: 'file' },
      description: { value: 'At the fjord', from: 'file' },
      capture_datetime: { value: '2024-05-06T05:08:09Z', from: 'file' },
      gps_coordinates: { value: '60.393000, 5.324000', from: 'file' },
      people: { value: ['Anna', 'Bo'], from: 'file' },
    },
  });
  const nowhere = { ...json, geoData: { latitude: 0, longitude: 0 }, description: '', people: [] };
  expect(Object.keys(readTakeout(JSON.stringify(nowhere))?.sources ?? {})).toEqual([
    'title',
    'capture_datetime',
  ]);
});

// SIDECAR-8
test.each(['{', '[]', '{"title":"Album"}', '{"title":"a","photoTakenTime":{"timestamp":"soon"}}'])(
  'the JSON file %s is not one of Takeout',
  (text) => {
    expect(readTakeout(text)).toBeNull();
  },
);

// SIDECAR-3, SIDECAR-8
test('the time and the title of a file precede those of Takeout if they say the same', () => {
  const sources = readTakeout(JSON.stringify(json))?.sources ?? {};
  const of = (taken: string) => {
    const embedded = {
      title: { value: 'Fjord', from: 'xmp' as const },
      capture_datetime: { value: taken, from: 'exif' as const },
    };
    const { title, capture_datetime } = combined(embedded, [{ kind: 'takeout', sources, former: {} }]);
    return [title?.value, capture_datetime?.value];
  };
  expect(of('2024-05-06T07:08:09')).toEqual(['Fjord', '2024-05-06T07:08:09']);
  expect(of('2024-05-06T10:38:09+05:30')).toEqual(['Fjord', '2024-05-06T10:38:09+05:30']);
  expect(of('2014-01-01T00:00:00')).toEqual(['Fjord', '2024-05-06T05:08:09Z']);
  expect(of('2024-05-06T07:08:10')).toEqual(['Fjord', '2024-05-06T05:08:09Z']);
});

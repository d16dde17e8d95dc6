import type { Visibility } from '@vitrine/contract/visibilities';
import type { SceneName } from './scenes.ts';

/** The people of the sample library. */
export interface Person {
  username: string;
  displayName: string;
  bio: string;
}

export const people: readonly Person[] = [
  { username: 'mara', displayName: 'Mara Lindqvist', bio: 'Landscapes, mostly at the wrong hour.' },
  { username: 'tomas', displayName: 'Tomás Ferreira', bio: 'Prints and posters. Two colours are plenty.' },
  { username: 'ines', displayName: 'Inès Okafor', bio: 'I draw maps of places that are not there.' },
  { username: 'yuki', displayName: 'Yuki Tanaka', bio: 'Cities after dark.' },
  { username: 'jonas', displayName: 'Jonas Weber', bio: 'Gardens, botanical plates, the odd still life.' },
  { username: 'amara', displayName: 'Amara Diallo', bio: 'Sea, weather, patience.' },
];

/** A post of the sample library: author, subject, number of pictures and visibility. */
export interface SamplePost {
  by: string;
  title: string;
  description: string;
  scene: SceneName;
  pictures: number;
  tags: string[];
  visibility: Visibility;
}

type Line = [
  by: string,
  title: string,
  scene: SceneName,
  pictures: number,
  tags: string,
  description: string,
];

const lines: Line[] = [
  ['mara', 'Above the tree line', 'mountains', 4, 'landscape,mountains', 'Four mornings on the same ridge.'],
  [
    'tomas',
    'Quarter circles',
    'shapes',
    3,
    'print,geometry',
    'Screen print studies, three of a set of twelve.',
  ],
  ['yuki', 'Last train', 'city', 3, 'city,night', 'From the footbridge, ten minutes apart.'],
  ['amara', 'Slack water', 'sea', 3, 'sea,light', 'Nothing moves for about twenty minutes.'],
  ['ines', 'Survey of an island', 'contours', 4, 'maps,ink', 'Heights are invented. The coast is worse.'],
  ['jonas', 'Plates I to III', 'bloom', 3, 'botanical,illustration', 'First plates of the garden book.'],
  ['mara', 'Dust road', 'dunes', 2, 'landscape,desert', 'Wind drew most of this.'],
  ['yuki', 'Power cut', 'night', 2, 'night,stars', 'The one evening the whole street looked up.'],
  ['tomas', 'Poster, spring season', 'shapes', 1, 'poster,print', 'Final artwork for the spring programme.'],
  ['amara', 'Forecast: fair', 'sea', 2, 'sea,weather', ''],
  ['jonas', 'Dahlias', 'bloom', 4, 'botanical,colour', 'Colour trials. The second one goes to print.'],
  ['ines', 'Contour study in red', 'contours', 1, 'maps', ''],
  ['mara', 'Blue hour', 'mountains', 3, 'landscape,light', 'Waited for the second star.'],
  ['yuki', 'Rooftops', 'city', 4, 'city', 'Seen from the drying racks.'],
  ['tomas', 'Tiles for a stairwell', 'shapes', 4, 'geometry,commission', 'Four panels, 80 x 80 cm each.'],
  ['amara', 'North harbour', 'sea', 1, 'sea', 'One frame before the rain.'],
  ['jonas', 'Night garden', 'bloom', 2, 'botanical,night', ''],
  ['ines', 'Two valleys', 'contours', 2, 'maps,ink', 'Drawn on the train, corrected on the way back.'],
  ['mara', 'Sand in everything', 'dunes', 3, 'landscape,desert', ''],
  ['yuki', 'Far from town', 'night', 3, 'night,stars', 'Long exposures, no filter.'],
  ['tomas', 'Off-register', 'shapes', 2, 'print,colour', 'Misprints I kept.'],
  ['amara', 'Evening ferry', 'sea', 2, 'sea,light', 'Port side.'],
  ['jonas', 'Seed heads', 'bloom', 1, 'illustration', ''],
  ['mara', 'First snow', 'mountains', 2, 'landscape,winter', 'It was gone by noon.'],
  ['yuki', 'Office hours', 'city', 2, 'city,architecture', 'Everyone works late in December.'],
  ['ines', 'Harbour chart', 'contours', 1, 'maps,sea', 'For Amara.'],
];

export const samplePosts: readonly SamplePost[] = lines.map(
  ([by, title, scene, pictures, tags, description], index) => ({
    by,
    title,
    scene,
    pictures,
    description,
    tags: tags.split(','),
    visibility: index % 7 === 6 ? 'org-only' : 'public',
  }),
);

export const remarks: readonly string[] = [
  'The light in the second one.',
  'Could I have this as a print?',
  'Which paper is this?',
  'More of these, please.',
  'The colours got under my skin.',
  'I walked past that spot a hundred times.',
  'Hung it over the desk.',
  'Quietly wonderful.',
];

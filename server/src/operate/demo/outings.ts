import type { Exif } from 'sharp';
import { between, seeded } from './random.ts';

/** Where sample pictures were taken, as latitude and longitude. */
const cities = {
  Bergen: [60.3913, 5.3221],
  Dakar: [14.6937, -17.4441],
  Innsbruck: [47.2692, 11.4041],
  Lisbon: [38.7223, -9.1393],
  Marrakesh: [31.6295, -7.9811],
  Tokyo: [35.6812, 139.7671],
  Vienna: [48.2082, 16.3738],
} as const satisfies Record<string, readonly [latitude: number, longitude: number]>;

/** Around a city, in degrees: some two kilometres. */
const SPREAD = 0.02;

/**
 * When and where the pictures of a post were taken: how many years ago, on which day, `MM-DD` or that of today, which
 * “On this day” shows, at which hour, and in which city. Drawings have none.
 */
type Outing = readonly [yearsAgo: number, day: string, hour: number, city?: keyof typeof cities];

/** By the title of the post. */
const outings: Readonly<Record<string, Outing>> = {
  'Above the tree line': [1, '08-23', 5, 'Innsbruck'],
  'Quarter circles': [2, '03-11', 14, 'Lisbon'],
  'Last train': [1, 'today', 23, 'Tokyo'],
  'Slack water': [3, '09-02', 7, 'Dakar'],
  'Survey of an island': [2, '01-18', 16],
  'Plates I to III': [4, '05-09', 11],
  'Dust road': [5, '10-21', 17, 'Marrakesh'],
  'Power cut': [4, '07-12', 22, 'Tokyo'],
  'Poster, spring season': [1, '02-20', 10, 'Lisbon'],
  'Forecast: fair': [4, 'today', 9, 'Dakar'],
  Dahlias: [2, '08-28', 9, 'Vienna'],
  'Contour study in red': [3, '11-05', 15],
  'Blue hour': [3, '12-27', 17, 'Innsbruck'],
  Rooftops: [2, '04-14', 18, 'Tokyo'],
  'Tiles for a stairwell': [1, '06-03', 12, 'Lisbon'],
  'North harbour': [2, '05-30', 8, 'Bergen'],
  'Night garden': [1, '07-19', 22, 'Vienna'],
  'Two valleys': [4, '02-08', 13],
  'Sand in everything': [5, '10-23', 15, 'Marrakesh'],
  'Far from town': [6, '08-11', 1],
  'Off-register': [2, 'today', 16, 'Lisbon'],
  'Evening ferry': [3, '07-04', 20, 'Bergen'],
  'Seed heads': [4, '09-16', 10, 'Vienna'],
  'First snow': [4, '11-16', 8, 'Innsbruck'],
  'Office hours': [1, '12-09', 19, 'Tokyo'],
  'Harbour chart': [2, '06-21', 10],
};

const two = (number: number) => String(number).padStart(2, '0');

/** Returns the time on the clock there in the notation of EXIF. The pictures of a post are seven minutes apart. */
function momentOf([yearsAgo, day, hour]: Outing, index: number, now: Date): string {
  const date = day === 'today' ? `${two(now.getMonth() + 1)}:${two(now.getDate())}` : day.replace('-', ':');
  return `${now.getFullYear() - yearsAgo}:${date} ${two(hour)}:${two((index * 7) % 60)}:00`;
}

/** Returns an angle as degrees, minutes and seconds in the notation of EXIF. */
function angleOf(degrees: number): string {
  const hundredths = Math.round(Math.abs(degrees) * 360_000);
  const whole = Math.floor(hundredths / 360_000);
  const minutes = Math.floor(hundredths / 6000) % 60;
  return `${whole}/1 ${minutes}/1 ${hundredths % 6000}/100`;
}

/** Returns the EXIF of the picture with this number in a post, as a camera writes it. */
export function exifOf(title: string, index: number, now: Date): Exif {
  const outing = outings[title];
  if (outing === undefined) return {};
  const taken = { IFD2: { DateTimeOriginal: momentOf(outing, index, now) } };
  const [, , hour, city] = outing;
  if (city === undefined) return taken;
  const random = seeded(title.length * 100 + hour + index);
  const [latitude, longitude] = cities[city];
  return {
    ...taken,
    IFD3: {
      GPSLatitudeRef: latitude < 0 ? 'S' : 'N',
      GPSLatitude: angleOf(latitude + between(random, -SPREAD, SPREAD)),
      GPSLongitudeRef: longitude < 0 ? 'W' : 'E',
      GPSLongitude: angleOf(longitude + between(random, -SPREAD, SPREAD)),
    },
  };
}

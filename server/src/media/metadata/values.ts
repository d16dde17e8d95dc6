import { MAX_LIST } from './tags.ts';

/** Descriptions that cameras write by default; the last pattern is a file name on the camera's card. */
const boilerplate =
  /^(?:olympus digital camera|sony dsc|minolta digital camera|konica minolta digital camera|samsung|samsung digital camera|digital still ?camera|digital camera|digital image|my beautiful picture|kodak digital still camera|exif_jpeg_picture|jpeg_picture|dcim[\\/].*|created with .*|default|untitled|<.*dsc.*>|[a-z_]{3,4}\d{4}\.jpe?g)[\s,.]*$/i;

/** Returns a text written by a person, ignoring the defaults of cameras. */
export function written(values: readonly string[]): string | undefined {
  const text = values.join(', ');
  return text === '' || boilerplate.test(text) ? undefined : text;
}

export function words(values: readonly string[]): string | undefined {
  return values[0];
}

function unique(values: readonly string[]): string[] | undefined {
  const found = [...new Set(values.map((value) => value.trim()).filter((value) => value !== ''))];
  return found.length === 0 ? undefined : found.slice(0, MAX_LIST);
}

/** Returns a list as stored in the file. */
export function list(values: readonly string[]): string[] | undefined {
  return unique(values);
}

/** Splits the single text of formats without lists at semicolons, or at commas if there are none. */
export function dividedList(values: readonly string[]): string[] | undefined {
  return unique(values.flatMap((value) => value.split(value.includes(';') ? ';' : ',')));
}

/** Splits names at semicolons and keeps quoted names whole. Commas do not separate, because names contain them too. */
export function names(values: readonly string[]): string[] | undefined {
  return unique(
    values.flatMap((value) =>
      Array.from(value.matchAll(/"([^"]*)"|([^;]+)/g), ([, quoted, bare]) => quoted ?? bare ?? ''),
    ),
  );
}

/** Returns a function that reads the first number of a text; undefined if it is out of bounds. */
export function numberWithin(least: number, most: number) {
  return (values: readonly string[]): number | undefined => {
    const found = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d{1,2})?/i.exec(values[0] ?? '')?.[0];
    const number = Number(found ?? Number.NaN);
    return number >= least && number <= most ? number : undefined;
  };
}

/** Returns a non-negative number, such as a duration in seconds, rounded to three decimals. */
export function seconds(values: readonly string[]): number | undefined {
  const found = numberWithin(0, 1e8)(values);
  return found === undefined ? undefined : Math.round(found * 1000) / 1000;
}

/** Formats `1/250` or a number of seconds in the notation of photographers. */
export function exposure(values: readonly string[]): string | undefined {
  const text = (values[0] ?? '').replace(/\s*(?:s|sec)$/i, '');
  if (/^1\/[1-9]\d{0,6}$/.test(text)) return text;
  const found = numberWithin(0.000_001, 1e6)([text]);
  if (found === undefined) return undefined;
  return found < 0.3 ? `1/${Math.round(1 / found)}` : String(Math.round(found * 10) / 10);
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** Returns an offset as `+02:00` or `Z`, or nothing if the text is not one. */
function zoneOf(text: string): string {
  if (/^(?:Z|UTC)$/i.test(text)) return 'Z';
  const found = /^([+-])(\d\d):?(\d\d)$/.exec(text);
  if (found === null) return '';
  const [, sign, hours, minutes] = found;
  return Number(hours) <= 14 && Number(minutes) < 60 ? `${sign}${hours}:${minutes}` : '';
}

/** Returns a year, or a year and a month, of which nothing more is known: `1965`, `1965:06`, `19650600`. */
function partialDate(text: string): string | undefined {
  const [, year, month = '00'] =
    /^(\d{4})(?:[:/-]?(\d\d)(?:[:/-]?00)?)?(?:[ T]00:00(?::00)?)?$/.exec(text.trim()) ?? [];
  if (year === undefined || year === '0000' || Number(month) > 12) return undefined;
  return month === '00' ? year : `${year}-${month}`;
}

/**
 * Converts `2024:05:06 07:08:09.12+02:00`, or a prefix of it down to the day, to ISO 8601. Keeps the offset if there
 * is one and drops fractions of a second. Returns undefined for an invalid date, such as the zeros of an unset clock.
 */
export function moment(text: string, offset = ''): string | undefined {
  const found =
    /^(\d{4})[:/-](\d{1,2})[:/-](\d{1,2})(?:[ T](\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?)?/i.exec(
      text,
    );
  if (found === null) return partialDate(text);
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const date = `${found[1]}-${two(month ?? 0)}-${two(day ?? 0)}`;
  const time = `${two(hour ?? 0)}:${two(minute ?? 0)}:${two(second ?? 0)}`;
  const at = new Date(`${date}T${time}Z`);
  // Rejects days that do not exist, which Date would carry into the next month.
  if (Number.isNaN(at.getTime()) || at.getUTCDate() !== day || (year ?? 0) < 1) return partialDate(text);
  if (found[4] === undefined) return date;
  return `${date}T${time}${zoneOf(found[7] ?? '') || zoneOf(offset.trim())}`;
}

/** Combines a day, `20240506` or `2024:05:06`, with a time, `070809+0200`, which some standards store separately. */
export function dividedMoment(day: string, time: string, offset = ''): string | undefined {
  const spread = /^\d{8}$/.test(day) ? `${day.slice(0, 4)}:${day.slice(4, 6)}:${day.slice(6)}` : day;
  return moment(time === '' ? spread : `${spread.slice(0, 10)} ${time}`, offset) ?? moment(spread);
}

/** Returns the first moment, refined by a later one that agrees with it and adds a time of day or an offset. */
export function mostExact<T extends { value: string }>(found: readonly T[]): T | undefined {
  return found.reduce<T | undefined>(
    (best, candidate) =>
      best === undefined ||
      (candidate.value.length > best.value.length && candidate.value.startsWith(best.value))
        ? candidate
        : best,
    undefined,
  );
}

/**
 * Formats coordinates in degrees, north and east positive, to a tenth of a metre. Returns undefined for invalid ones.
 */
export function coordinates(latitude: number, longitude: number): string | undefined {
  // A receiver without a fix writes 0, 0.
  if (latitude === 0 && longitude === 0) return undefined;
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return undefined;
  // Omits the minus sign of zero.
  const text = (angle: number) => angle.toFixed(6).replace(/^-(?=0\.0+$)/, '');
  return `${text(latitude)}, ${text(longitude)}`;
}

/** Returns decimal degrees, with the sign of the hemisphere if one is given. */
export function degrees(value: string | undefined, hemisphere: string | undefined): number {
  // ExifTool writes less than a ten-thousandth as `5e-05`: ten metres from Greenwich.
  const number = Number(/^[-+]?\d+(?:\.\d+)?(?:e-\d{1,2})?$/i.exec(value ?? '')?.[0] ?? Number.NaN);
  return /^[SW]/i.test(hemisphere ?? '') ? -Math.abs(number) : number;
}

/** Common names of codecs, by patterns of the names in containers. */
const codecs: readonly (readonly [RegExp, string])[] = [
  [/^(?:avc\d|h264|x264|v_mpeg4\/iso\/avc|mpeg-4 avc)/i, 'h264'],
  [/^(?:hvc1|hev1|hevc|v_mpegh\/iso\/hevc)/i, 'hevc'],
  [/^(?:av01|v_av1)/i, 'av1'],
  [/^(?:vp09|vp90|v_vp9)/i, 'vp9'],
  [/^(?:vp08|vp80|v_vp8)/i, 'vp8'],
  [/^(?:ap[a-z0-9]{2}$|prores)/i, 'prores'],
  [/^(?:mp4v|divx|xvid|dx50|fmp4|v_mpeg4)/i, 'mpeg4'],
  [/^(?:mjpg|mjpa|jpeg|v_mjpeg)/i, 'mjpeg'],
  [/^(?:mp4a|aac|a_aac|mpeg-4\/aac)/i, 'aac'],
  [
    /^(?:\.?mp3|mpeg 1 layer 3|mpeg 2 layer 3|mpeg-1 layer 3|mpeg layer 3|mpeg 2\.5 layer 3|mpeg audio layer 3|a_mpeg\/l3)/i,
    'mp3',
  ],
  [/^(?:alac)/i, 'alac'],
  [/^(?:flac|a_flac)/i, 'flac'],
  [/^(?:opus|a_opus)/i, 'opus'],
  [/^(?:vorbis|a_vorbis)/i, 'vorbis'],
  [/^(?:ac-3|a_ac3)/i, 'ac3'],
  [/^(?:microsoft pcm|pcm|sowt|twos|lpcm|in24|in32|fl32|raw |none$|a_pcm)/i, 'pcm'],
];

/** Returns a codec's common name, or the name in the file, shortened. */
export function codec(values: readonly string[]): string | undefined {
  const text = (values[0] ?? '').trim();
  if (text === '') return undefined;
  return codecs.find(([pattern]) => pattern.test(text))?.[1] ?? text.slice(0, 100).toLowerCase();
}

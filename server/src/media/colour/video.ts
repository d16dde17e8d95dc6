import type { Shape } from '../ladder.ts';

/** Code points of ITU-T H.273, which FFmpeg uses, too. */
export interface CodePoints {
  primaries: number;
  transfer: number;
  matrix: number;
}

/** The code point of a property that is not described. */
const UNSPECIFIED = 2;

/** FFmpeg's names by code point. */
const primariesNames: ReadonlyMap<string, number> = new Map([
  ['bt709', 1],
  ['bt470m', 4],
  ['bt470bg', 5],
  ['smpte170m', 6],
  ['smpte240m', 7],
  ['film', 8],
  ['bt2020', 9],
  ['smpte428', 10],
  ['smpte431', 11],
  ['smpte432', 12],
  ['jedec-p22', 22],
  ['ebu3213', 22],
]);
const transferNames: ReadonlyMap<string, number> = new Map([
  ['bt709', 1],
  ['bt470m', 4],
  ['gamma22', 4],
  ['bt470bg', 5],
  ['gamma28', 5],
  ['smpte170m', 6],
  ['smpte240m', 7],
  ['linear', 8],
  ['log100', 9],
  ['log316', 10],
  ['iec61966-2-4', 11],
  ['bt1361e', 12],
  ['iec61966-2-1', 13],
  ['bt2020-10', 14],
  ['bt2020-12', 15],
  ['smpte2084', 16],
  ['smpte428', 17],
  ['arib-std-b67', 18],
]);
const matrixNames: ReadonlyMap<string, number> = new Map([
  ['gbr', 0],
  ['bt709', 1],
  ['fcc', 4],
  ['bt470bg', 5],
  ['smpte170m', 6],
  ['smpte240m', 7],
  ['ycgco', 8],
  ['bt2020nc', 9],
  ['bt2020c', 10],
  ['chroma-derived-nc', 12],
  ['chroma-derived-c', 13],
  ['ictcp', 14],
]);

/** Returns the code points for FFmpeg's names. */
export function codePointsOf(names: {
  primaries?: string | undefined;
  transfer?: string | undefined;
  matrix?: string | undefined;
}): CodePoints {
  return {
    primaries: primariesNames.get(names.primaries ?? '') ?? UNSPECIFIED,
    transfer: transferNames.get(names.transfer ?? '') ?? UNSPECIFIED,
    matrix: matrixNames.get(names.matrix ?? '') ?? UNSPECIFIED,
  };
}

const RGB = 0;
const BT709 = 1;
const BT601 = 6;
const BT2020 = 9;
const PQ = 16;
const HLG = 18;

/** Returns the curve of a high dynamic range video, which must be tone-mapped for ordinary screens; null for others. */
export function highRangeOf({ transfer }: CodePoints): 'pq' | 'hlg' | null {
  if (transfer === PQ) return 'pq';
  return transfer === HLG ? 'hlg' : null;
}

/** The largest size of standard definition, in pixels. Players take everything larger for high definition. */
const STANDARD: Shape = { width: 1279, height: 576 };

/** Returns a description without gaps: what a video does not say follows from the rest and from its coded size. */
export function completed({ primaries, transfer, matrix }: CodePoints, size: Shape): CodePoints {
  const isKnown = (point: number) => ![UNSPECIFIED, 3].includes(point) && point >= 0;
  const isStandard = size.width <= STANDARD.width && size.height <= STANDARD.height;
  const isWide = primaries === BT2020 || transfer === PQ || transfer === HLG;
  const byPrimaries = new Map([
    [BT709, BT709],
    [5, 5],
    [BT601, BT601],
    [7, 7],
  ]);
  const bySize = isStandard ? BT601 : BT709;
  const family = isWide ? BT2020 : (byPrimaries.get(primaries) ?? bySize);
  const known = isKnown(matrix) ? matrix : family;
  return {
    matrix: known,
    primaries: isKnown(primaries) ? primaries : [BT2020, 10, 14].includes(known) ? BT2020 : BT709,
    transfer: isKnown(transfer) ? transfer : BT709,
  };
}

/** Matrices that FFmpeg's scaler knows, with its names. */
const scalerNames: ReadonlyMap<number, string> = new Map([
  [BT709, 'bt709'],
  [4, 'fcc'],
  [5, 'bt601'],
  [BT601, 'bt601'],
  [7, 'smpte240m'],
  [BT2020, 'bt2020'],
  [10, 'bt2020'],
]);

/** Primaries so close to those of BT.709 that players show their numbers unchanged. */
const ordinaryPrimaries: readonly number[] = [1, 4, 5, 6, 7, 8, 22];
/** Curves that players treat alike. */
const ordinaryCurves: readonly number[] = [1, 6, 7, 11, 12, 13, 14, 15];

/** The colours of converted video. */
export const madeColours = {
  colorspace: 'bt709',
  color_primaries: 'bt709',
  color_trc: 'bt709',
  color_range: 'tv',
} as const;

/**
 * Returns the FFmpeg filters that scale frames of these colours and convert them to BT.709. `hasZscale`: whether this
 * FFmpeg has zscale, without which only the matrix is converted.
 */
export function colourFilters(colour: CodePoints, { width, height }: Shape, hasZscale: boolean): string[] {
  const { primaries, transfer, matrix } = colour;
  const isRgb = matrix === RGB;
  const isOrdinary =
    ordinaryPrimaries.includes(primaries) &&
    ordinaryCurves.includes(transfer) &&
    (isRgb || scalerNames.has(matrix));
  const scaler = isRgb ? '' : `:in_color_matrix=${scalerNames.get(matrix) ?? 'bt709'}`;
  if (isOrdinary || !hasZscale)
    return [`scale=${width}:${height}${scaler}:out_color_matrix=bt709:out_range=tv`];
  // zscale after scaling, because it is slow.
  const described = `${isRgb ? '' : `min=${matrix}:`}tin=${transfer}:pin=${primaries}`;
  const kept = `scale=${width}:${height}${isRgb ? '' : `${scaler}:out_color_matrix=${scalerNames.get(matrix) ?? 'bt709'}`}`;
  if (highRangeOf(colour) === null) {
    const curve = ordinaryCurves.includes(transfer) ? transfer : 13;
    return [kept, `zscale=${described}:t=${curve}:p=bt709:m=bt709:r=tv`];
  }
  return [kept, `zscale=${described}:t=linear:npl=100`, 'format=gbrpf32le', ...toStandardRange];
}

/** Converts linear light of BT.2020 to standard dynamic range. */
const toStandardRange = ['zscale=p=bt709', 'tonemap=tonemap=hable:desat=0', 'zscale=t=bt709:m=bt709:r=tv'];

/** Returns the filter that multiplies red, green and blue by a matrix, and adds a constant to each. */
function matrixFilter(rows: Readonly<Record<'r' | 'g' | 'b', readonly number[]>>): string {
  const options = Object.entries(rows).flatMap(([to, row]) =>
    row.map((factor, index) => `${to}${'rgba'[index]}=${factor}`),
  );
  return `colorchannelmixer=${options.join(':')}`;
}

/**
 * From I, P and T (as red, green and blue, 0 to 1) to the PQ samples of the cones. Alpha, which is 1, adds what the
 * offset of P and T, one half, amounts to.
 */
const iptToCones = {
  r: [1, 0.097534, 0.2052, -0.151367],
  g: [1, -0.113892, 0.133179, -0.009644],
  b: [1, 0.032593, -0.67688, 0.322144],
};

/** From the light of the cones to a fourth of that of BT.2020, because the filter has no factors above 2. */
const conesToLight = {
  r: [0.80969, -0.58139, 0.02169],
  g: [-0.17983, 0.46956, -0.03975],
  b: [-0.00071, -0.01789, 0.26862],
};

/**
 * Returns the FFmpeg filters that scale frames in IPT, the colours of Dolby Vision's profile 5, and convert them to
 * BT.709. The adjustments that the film has for each scene are left out.
 */
export function iptFilters({ width, height }: Shape): string[] {
  return [
    // The scaler knows no IPT.
    'setparams=colorspace=bt2020nc:range=pc',
    `scale=${width}:${height}:in_range=pc:out_range=pc`,
    'format=yuv444p16le',
    // Takes the planes I, P and T for red, green and blue. GBR has them in the order of its name.
    'mergeplanes=map0s=0:map0p=1:map1s=0:map1p=2:map2s=0:map2p=0:format=gbrp16le',
    'setparams=colorspace=gbr:color_primaries=bt2020:color_trc=smpte2084:range=pc',
    'format=gbrap16le',
    matrixFilter(iptToCones),
    'format=gbrp16le',
    // A fourth of 100, because the light is divided by four.
    'zscale=t=linear:npl=25',
    'format=gbrpf32le',
    matrixFilter(conesToLight),
    ...toStandardRange,
  ];
}

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
  const made = 't=bt709:m=bt709:r=tv';
  if (highRangeOf(colour) === null) {
    const curve = ordinaryCurves.includes(transfer) ? transfer : 13;
    return [kept, `zscale=${described}:t=${curve}:p=bt709:m=bt709:r=tv`];
  }
  const linear = [kept, `zscale=${described}:t=linear:npl=100`, 'format=gbrpf32le', 'zscale=p=bt709'];
  return [...linear, 'tonemap=tonemap=hable:desat=0', `zscale=${made}`];
}

/** Boxes that contain image properties, with the number of bytes before their first child. */
const containers = new Map([
  ['meta', 4],
  ['iprp', 0],
  ['ipco', 0],
]);

/** Returns the payloads of the boxes of this type among the image properties of a HEIF file (ISO/IEC 23008-12). */
function propertiesOf(bytes: Buffer, type: string, from = 0, to = bytes.length): Buffer[] {
  const found: Buffer[] = [];
  for (let at = from; at + 8 <= to; ) {
    const size = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    const end = size === 0 ? to : at + size;
    if (size === 1 || end < at + 8 || end > to) break;
    const skipped = containers.get(name);
    if (skipped !== undefined) found.push(...propertiesOf(bytes, type, at + 8 + skipped, end));
    else if (name === type) found.push(bytes.subarray(at + 8, end));
    at = end;
  }
  return found;
}

/** The colour of a HEIF picture: an ICC profile, or code points (ISO/IEC 23091-2). */
export interface HeifColour {
  profile: Buffer | null;
  points: { primaries: number; transfer: number } | null;
}

/** Returns the colour that a HEIF or AVIF file describes; a profile takes precedence. */
export function heifColourOf(bytes: Buffer): HeifColour {
  const colours = propertiesOf(bytes, 'colr');
  const kindOf = (colour: Buffer) => colour.toString('latin1', 0, 4);
  const profile = colours.find((colour) => kindOf(colour) === 'prof' || kindOf(colour) === 'rICC');
  const named = colours.find((colour) => kindOf(colour) === 'nclx' && colour.length >= 8);
  const points =
    named === undefined ? null : { primaries: named.readUInt16BE(4), transfer: named.readUInt16BE(6) };
  return { profile: profile?.subarray(4) ?? null, points };
}

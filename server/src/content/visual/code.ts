/** Number of planes that a code compares a vector with; the width of `picture_codes.code`. */
export const CODE_BITS = 512;

/** A pseudo-random sequence that is identical on every machine and in every version (xorshift32). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

const planes = new Map<number, Float32Array>();

/** Returns planes through the origin for vectors of this length; changing them would invalidate every stored code. */
function planesFor(dimensions: number): Float32Array {
  const known = planes.get(dimensions);
  if (known !== undefined) return known;
  const next = sequence(0x9e3779b9);
  // Sums of uniform numbers are close enough to normal for directions without a bias.
  const made = Float32Array.from({ length: CODE_BITS * dimensions }, () => next() + next() + next() - 1.5);
  planes.set(dimensions, made);
  return made;
}

/**
 * Returns the vector's side of each plane, as text of ones and zeros: the share of differing places approximates the
 * angle of the vectors.
 */
export function codeOf(vector: readonly number[]): string {
  const normals = planesFor(vector.length);
  let code = '';
  for (let plane = 0; plane < CODE_BITS; plane += 1) {
    const from = plane * vector.length;
    let side = 0;
    for (let at = 0; at < vector.length; at += 1) side += (normals[from + at] ?? 0) * (vector[at] ?? 0);
    code += side >= 0 ? '1' : '0';
  }
  return code;
}

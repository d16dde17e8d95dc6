/** Pixels of a texture: red, green, blue and alpha, a byte each. */
export interface Texture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

/** Triangles of one material, or single points, in the coordinates of the scene; the y axis points up. */
export interface Surface {
  /** Three numbers for each corner. */
  positions: Float32Array;
  /** As many; null where faces are flat. */
  normals: Float32Array | null;
  /** Linear red, green and blue for each corner. */
  colours: Float32Array | null;
  /** Two numbers for each corner. */
  uvs: Float32Array | null;
  /** Three corners for each triangle; null for single points. */
  triangles: Uint32Array | null;
  /** Linear red, green and blue of the material. */
  base: readonly [number, number, number];
  texture: Texture | null;
}

/** Pixels of a texture as RGBA, one byte per channel. */
export interface Texture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

/** Triangles of one material, or single points, in scene coordinates with the y axis up. */
export interface Surface {
  /** Three numbers per corner. */
  positions: Float32Array;
  /** Three numbers per corner; null for flat shading. */
  normals: Float32Array | null;
  /** Linear red, green and blue per corner. */
  colours: Float32Array | null;
  /** Two numbers per corner. */
  uvs: Float32Array | null;
  /** Three corners per triangle; null for single points. */
  triangles: Uint32Array | null;
  /** Linear red, green and blue of the material. */
  base: readonly [number, number, number];
  texture: Texture | null;
}

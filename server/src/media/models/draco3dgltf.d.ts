declare module 'draco3dgltf' {
  /** The modules that glTF Transform requires; no other code uses them. */
  const draco: { createDecoderModule(): Promise<object>; createEncoderModule(): Promise<object> };
  export default draco;
}

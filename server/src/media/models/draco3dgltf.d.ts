declare module 'draco3dgltf' {
  /** The modules as glTF Transform takes them; nothing else here speaks to them. */
  const draco: { createDecoderModule(): Promise<object>; createEncoderModule(): Promise<object> };
  export default draco;
}

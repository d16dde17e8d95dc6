/** Bytes of each buffer: the longest chunk that a file is read in. */
export const BUFFER_BYTES = 256 * 1024;

/** Memory for reading a file in chunks. */
export interface Buffers {
  /** Returns a buffer of this length, at most BUFFER_BYTES. */
  take(length: number): Buffer;
}

/** Buffers that are used again. */
export interface RecycledBuffers extends Buffers {
  /** Takes back the buffer of a chunk, or of a part of it, that nothing reads any more. Ignores other chunks. */
  giveBack(chunk: Buffer): void;
}

export const newBuffers: Buffers = { take: (length) => Buffer.allocUnsafeSlow(length) };

/**
 * Returns buffers for one response. V8 marks the whole heap for every 64 MB of new buffers, which takes longer than sending
 * them. A buffer that is never given back is collected as usual.
 */
export function recycleBuffers(): RecycledBuffers {
  const free: ArrayBuffer[] = [];
  const lent = new WeakMap<ArrayBufferLike, ArrayBuffer>();
  return {
    take(length) {
      const memory = free.pop() ?? new ArrayBuffer(BUFFER_BYTES);
      lent.set(memory, memory);
      return Buffer.from(memory, 0, length);
    },
    giveBack(chunk) {
      const memory = lent.get(chunk.buffer);
      if (memory === undefined) return;
      lent.delete(memory);
      free.push(memory);
    },
  };
}

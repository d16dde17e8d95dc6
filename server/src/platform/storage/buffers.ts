/** Bytes of each buffer, and of the longest chunk in which a file is read. */
export const BUFFER_BYTES = 256 * 1024;

/** Memory for reading a file in chunks. */
export interface Buffers {
  /** Returns a buffer of this length, at most BUFFER_BYTES. */
  take(length: number): Buffer;
}

/** Buffers that are reused. */
export interface RecycledBuffers extends Buffers {
  /** Takes back the buffer of a chunk that is no longer read, or of a part of it. Ignores other chunks. */
  giveBack(chunk: Buffer): void;
}

export const newBuffers: Buffers = { take: (length) => Buffer.allocUnsafeSlow(length) };

/**
 * Returns buffers for one response. V8 marks the whole heap for every 64 MB of new buffers, which takes longer than sending
 * them. A buffer that is never given back is garbage collected.
 */
export function recycleBuffers(): RecycledBuffers {
  const free: ArrayBufferLike[] = [];
  const lent = new WeakSet<ArrayBufferLike>();
  return {
    take(length) {
      const memory = free.pop() ?? new ArrayBuffer(BUFFER_BYTES);
      lent.add(memory);
      return Buffer.from(memory, 0, length);
    },
    giveBack({ buffer }) {
      if (lent.delete(buffer)) free.push(buffer);
    },
  };
}

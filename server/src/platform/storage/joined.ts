import { NoSuchObject, type Storage } from './storage.ts';

/**
 * Storage that writes to `first` and also reads from `second`. An object that moves between them is always found: it is
 * in `first` before it leaves `second`.
 */
export function joinStorages(first: Storage, second: Storage): Storage {
  const readable = async <T>(read: (storage: Storage) => Promise<T>): Promise<T> => {
    for (const storage of [first, second]) {
      try {
        return await read(storage);
      } catch (error) {
        if (!(error instanceof NoSuchObject)) throw error;
      }
    }
    // It may have been moved between the two attempts.
    return read(first);
  };
  return {
    ...first,
    get: (key, sizeBytes, range, buffers) =>
      readable((storage) => storage.get(key, sizeBytes, range, buffers)),
    async addressOf(key, sizeBytes, headers) {
      for (const storage of [first, second]) {
        try {
          const address = await storage.addressOf(key, sizeBytes, headers);
          if (address !== null) return address;
        } catch (error) {
          if (!(error instanceof NoSuchObject)) throw error;
        }
      }
      // Reading it finds where it is, or that it is missing.
      return null;
    },
    async head(key) {
      return (await first.head(key)) ?? (await second.head(key)) ?? (await first.head(key));
    },
    async withLocalFile(key, use) {
      const isInFirst = (await first.head(key)) !== null || (await second.head(key)) === null;
      return (isInFirst ? first : second).withLocalFile(key, use);
    },
    async checkReady() {
      await Promise.all([first.checkReady(), second.checkReady()]);
    },
    async delete(key) {
      await second.delete(key);
      await first.delete(key);
    },
    async *list(prefix) {
      yield* first.list(prefix);
      for await (const object of second.list(prefix)) {
        if ((await first.head(object.key)) === null) yield object;
      }
    },
    async removeUnfinished(olderThan) {
      return (await first.removeUnfinished(olderThan)) + (await second.removeUnfinished(olderThan));
    },
  };
}

// Stack traces of a bundle name the files and lines of the sources. Node can do this, but reads the source map of every
// module when it loads it, which takes a third as long as the start; this reads one with the first error that needs it.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const maps = new Map();

function mapOf(url) {
  if (!maps.has(url)) {
    try {
      maps.set(url, new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8'))));
    } catch {
      maps.set(url, null);
    }
  }
  return maps.get(url);
}

/** Makes the stack traces of modules whose address starts with this name their sources. */
export function nameSources(bundle) {
  const place = /file:\/\/[^\s()]+?(?=:\d+:\d+):(\d+):(\d+)/;
  const named = (frame) =>
    frame.replace(place, (found, line, column) => {
      const url = found.slice(0, -`:${line}:${column}`.length);
      const origin = url.startsWith(bundle)
        ? mapOf(url)?.findOrigin(Number(line), Number(column))
        : undefined;
      if (origin?.fileName === undefined) return found;
      return `${new URL(origin.fileName, url).href}:${origin.lineNumber}:${origin.columnNumber}`;
    });
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${named(String(frame))}`)].join(
      '\n',
    );
}

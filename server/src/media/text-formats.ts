/** A text-based format that is recognised by its start. */
export interface TextFormat {
  mime: string;
  extension: string;
}

/** What may precede the root of an XML document. Matched piece by piece, so that matching takes linear time. */
const beforeRoot = /\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>/iy;

function isSvg(text: string): boolean {
  let root = 0;
  for (;;) {
    beforeRoot.lastIndex = root;
    if (!beforeRoot.test(text)) break;
    root = beforeRoot.lastIndex;
  }
  return /^<(?:[\w-]+:)?svg[\s/>]/.test(text.slice(root, root + 100));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only the start of a long document is available. `[^{}]*` keeps the search linear. */
function isGltf(text: string): boolean {
  return /"asset"\s*:\s*\{[^{}]*"version"\s*:\s*"\d+\.\d+"/.test(text);
}

const objStatement =
  /^(?:v|vn|vt|vp|f|fo|o|g|s|l|p|mg|lod|mtllib|usemtl|usemap|maplib|bevel|c_interp|d_interp|shadow_obj|trace_obj)(?:\s|$)/;

/** Characters of an OBJ that are inspected: a file may start with long comments. */
const OBJ_START = 64 * 1024;

/**
 * Wavefront OBJ has no signature; recognised if the first statements are all OBJ statements, with vertices among
 * them.
 */
function isObj(text: string): boolean {
  const lines = text
    .slice(0, OBJ_START)
    .replace(/\\[ \t]*(?:\r\n|\n|\r)/g, ' ')
    .split(/\r\n|\n|\r/);
  if (text.length > OBJ_START) lines.pop();
  const statements = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  return (
    statements.some((line) => /^v(?:\s+[-+.\deE]+){3,}$/.test(line)) &&
    statements.every((line) => objStatement.test(line))
  );
}

/** Returns the format of a text. `whole` says whether the text is the complete file. */
export function textFormat(text: string, whole: boolean): TextFormat {
  const start = text.slice(0, 1000).trimStart();
  if (start.startsWith('<') && isSvg(text)) return { mime: 'image/svg+xml', extension: 'svg' };
  if (/^[{[]/.test(start)) {
    const json = !whole || parsed(text) !== undefined;
    if (json && start.startsWith('{') && isGltf(text)) return { mime: 'model/gltf+json', extension: 'gltf' };
    if (whole && json) return { mime: 'application/json', extension: 'json' };
  }
  if (/^solid\b[^\r\n]*[\r\n]\s*(?:color\b[^\r\n]*[\r\n]\s*)?facet\s+normal\s/i.test(start))
    return { mime: 'model/stl', extension: 'stl' };
  if (isObj(text)) return { mime: 'model/obj', extension: 'obj' };
  return { mime: 'text/plain', extension: 'txt' };
}

import { describe, expect, test } from 'vitest';
import { textFormat } from '../../src/media/text-formats.ts';

const mimeOf = (text: string, whole = true) => textFormat(text, whole).mime;

describe('a text', () => {
  test.each([
    '<svg/>',
    '<svg xmlns="http://www.w3.org/2000/svg">',
    '\n <?xml version="1.0" encoding="UTF-8"?>\n<!-- drawn <by> hand -->\n<svg\nwidth="1">',
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg>',
    '<!DOCTYPE svg [ <!ENTITY ns "http://www.w3.org/2000/svg"> ]> <svg xmlns="&ns;">',
    '<?xml-stylesheet href="a.css"?><svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>',
  ])('with an svg root is an SVG: %s', (text) => {
    expect(mimeOf(text)).toBe('image/svg+xml');
  });

  test.each([
    'svg',
    '<html><svg></svg></html>',
    '<!doctype html><svg></svg>x'.replace('<svg>', '<p>'),
    '<!-- <svg> -->',
    '<!-- <svg>',
    '<svgx>',
    'a,b\n1,2\n',
    '{"asset":',
    'value is 3\nvertex 4\n',
    'solid advice for painters\n',
    '',
  ])('that only looks like something is a text: %s', (text) => {
    expect(mimeOf(text)).toBe('text/plain');
  });

  test('is JSON when all of it parses', () => {
    expect(mimeOf(' {"a": [1, 2]}\n')).toBe('application/json');
    expect(mimeOf('[]')).toBe('application/json');
    expect(mimeOf('{"a": [1, 2]')).toBe('text/plain');
  });

  test('is a model when it is glTF, OBJ or STL', () => {
    const gltf = '{"scene": 0, "asset": {"generator": "x", "version": "2.0"}, "nodes": [';
    expect(mimeOf(`${gltf}]}`)).toBe('model/gltf+json');
    expect(mimeOf(gltf, false)).toBe('model/gltf+json');
    expect(mimeOf('# a cube\nmtllib cube.mtl\no Cube\nv 1.0 -1.0 1e-3\nv 0 0 0\nvn 0 1 0\nf 1 2 3\n')).toBe(
      'model/obj',
    );
    expect(mimeOf('solid cube\n  facet normal 0 0 1\n    outer loop\n')).toBe('model/stl');
  });

  test('is recognised quickly even if it is crafted to be slow', () => {
    const size = 256 * 1024;
    const slow = [
      `{${'"asset":{'.repeat(size / 9)}`,
      `{"asset":{${'"version"'.repeat(size / 9)}`,
      '<!---->'.repeat(size / 7),
      '<!--'.repeat(size / 4),
      `<?xml ${'?'.repeat(size)}`,
      `<!DOCTYPE [${']'.repeat(size)}`,
      ' '.repeat(size),
      `solid\n${' '.repeat(size)}`,
      `v ${'1'.repeat(size)}`,
      '['.repeat(size),
    ];
    const started = performance.now();
    for (const text of slow) expect(mimeOf(text)).toBe('text/plain');
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

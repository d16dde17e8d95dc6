import { describe, expect, test } from 'vitest';
import { textFormat } from '../../src/media/text-formats.ts';

const gltf = '{"scene": 0, "asset": {"generator": "x", "version": "2.0"}, "nodes": [';

describe('a text', () => {
  test.each([
    ['image/svg+xml', '<svg/>'],
    [
      'image/svg+xml',
      '\n <?xml version="1.0" encoding="UTF-8"?>\n<!-- drawn <by> hand -->\n<svg\nwidth="1">',
    ],
    [
      'image/svg+xml',
      '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg>',
    ],
    ['image/svg+xml', '<!DOCTYPE svg [ <!ENTITY ns "http://www.w3.org/2000/svg"> ]> <svg xmlns="&ns;">'],
    ['image/svg+xml', '<?xml-stylesheet href="a.css"?><svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>'],
    ['application/json', ' {"a": [1, 2]}\n'],
    ['application/json', '[]'],
    ['model/gltf+json', `${gltf}]}`],
    ['model/obj', '# a cube\nmtllib cube.mtl\no Cube\nv 1.0 -1.0 1e-3\nv 0 0 0\nvn 0 1 0\nf 1 2 3\n'],
    ['model/stl', 'solid cube\n  facet normal 0 0 1\n    outer loop\n'],
    // These only look like something else.
    ['text/plain', 'svg'],
    ['text/plain', '<html><svg></svg></html>'],
    ['text/plain', '<!-- <svg> -->'],
    ['text/plain', '<!-- <svg>'],
    ['text/plain', '<svgx>'],
    ['text/plain', 'a,b\n1,2\n'],
    ['text/plain', '{"asset":'],
    ['text/plain', '{"a": [1, 2]'],
    ['text/plain', 'value is 3\nvertex 4\n'],
    ['text/plain', 'solid advice for painters\n'],
    ['text/plain', ''],
  ])('is %s: %s', (mime, text) => {
    expect(textFormat(text, true).mime).toBe(mime);
  });

  test('is glTF also when only its beginning is read', () => {
    expect(textFormat(gltf, false).mime).toBe('model/gltf+json');
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
    for (const text of slow) expect(textFormat(text, true).mime).toBe('text/plain');
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sidecarMatches } from '@vitrine/contract/sidecars';
import { describe, expect, test } from 'vitest';
import { convertSubtitles } from '../../src/media/subtitles/convert.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { temporaryDirectory } from '../support/temporary.ts';

let files = 0;

const directory = await temporaryDirectory();

/** Returns the WebVTT of a file without its header, or why there is none. */
async function convert(content: string | Uint8Array): Promise<{ format: string; vtt: string }> {
  files += 1;
  const path = join(directory, `${files}`);
  await writeFile(path, content);
  const made = await convertSubtitles(path, `${path}.vtt`);
  if (made.outcome === 'refused') return { format: 'refused', vtt: saySentence('en', made.reason) };
  if (made.outcome === 'pictures') return { format: made.format, vtt: '' };
  const written = await readFile(`${path}.vtt`, 'utf8');
  expect(written.startsWith('WEBVTT\n\n')).toBe(true);
  return { format: made.format, vtt: written.slice('WEBVTT\n\n'.length) };
}

const cue = (text: string) => `1\n00:00:01,000 --> 00:00:02,500\n${text}\n`;
const shown = (text: string) => `00:00:01.000 --> 00:00:02.500\n${text}\n`;

describe('text subtitles become WebVTT', () => {
  // SUBTITLE-4
  test('SRT keeps bold, italic and underline, closes them, and drops the rest of its markup', async () => {
    const source = cue('{\\an8}<i>One</i> <font color="red">two</font>\r\n<b>three');
    expect(await convert(source)).toEqual({ format: 'srt', vtt: shown('<i>One</i> two\n<b>three</b>') });
  });

  // SUBTITLE-4
  test('SRT needs no empty lines between its cues', async () => {
    const source = '1\n00:00:01,000 --> 00:00:02,500\nHello\n2\n00:00:03,000 --> 00:00:04,000\n1984\n';
    expect((await convert(source)).vtt).toBe(`${shown('Hello')}\n00:00:03.000 --> 00:00:04.000\n1984\n`);
  });

  // SUBTITLE-4, MEDIA-39
  test.each([
    ['Greek', 'c3e5e9dc20f3eff520cafcf3ece5', 'Γειά σου Κόσμε'],
    ['Chinese', 'c4e3bac3a3accac0bde7a1a3d5e2cac7d6d0cec4d7d6c4bba1a3', '你好，世界。这是中文字幕。'],
    [
      'Czech',
      '50f8ed6c699a209e6c759d6f75e86bfd206bf9f220fa70ec6c20efe162656c736be920f36479',
      'Příliš žluťoučký kůň úpěl ďábelské ódy',
    ],
  ])('SRT is read in its encoding: %s', async (_, hex, text) => {
    const [head = '', tail = ''] = cue('|').split('|');
    const bytes = Buffer.concat([Buffer.from(head), Buffer.from(hex, 'hex'), Buffer.from(tail)]);
    expect((await convert(bytes)).vtt).toBe(shown(text));
  });

  // SUBTITLE-4
  test('SRT text that would mean something in WebVTT is escaped', async () => {
    const source = cue('a < b && c --> d <gasps> <script>x</script>');
    expect((await convert(source)).vtt).toBe(
      shown('a &lt; b &amp;&amp; c --&gt; d &lt;gasps&gt; &lt;script&gt;x&lt;/script&gt;'),
    );
  });

  test('WebVTT keeps its cue settings; notes, styles, regions and other tags are left out', async () => {
    const source =
      'WEBVTT - title\n\nNOTE none of this\nappears\n\nSTYLE\n::cue { color: red }\n\nfirst\n' +
      '00:01.000 --> 00:02.500 line:0 region:top align:start\n<v Ann>Tom &amp; <00:01.500><c.loud>Ann</c></v>\n\nid\n';
    expect(await convert(source)).toEqual({
      format: 'vtt',
      vtt: '00:00:01.000 --> 00:00:02.500 line:0 align:start\nTom &amp; Ann\n',
    });
  });

  test('ASS and SSA keep only the words of dialogues', async () => {
    const events = (first: string) =>
      `[Events]\nFormat: ${first}, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n` +
      'Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\i1}One{\\i0}, two\\N<three>\n' +
      'Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}\n' +
      'Dialogue: broken\nComment: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,aside\n';
    const vtt = shown('One, two\n&lt;three&gt;');
    expect(await convert(`[Script Info]\nScriptType: v4.00+\n\n${events('Layer')}`)).toEqual({
      format: 'ass',
      vtt,
    });
    const old = `[Script Info]\nScriptType: v4.00\n\n[V4 Styles]\nFormat: Name, Fontname\n\n${events('Marked')}`;
    expect(await convert(old)).toEqual({ format: 'ssa', vtt });
  });

  test('SBV is plain text', async () => {
    expect(await convert('0:00:01.000,0:00:02.500\nOne[br]<i>two\n')).toEqual({
      format: 'sbv',
      vtt: shown('One\n&lt;i&gt;two'),
    });
  });

  test('UTF-16 with and without a byte order mark, UTF-8 with one, and Windows-1252 are read', async () => {
    const text = cue('Grüße – für dich');
    const vtt = shown('Grüße – für dich');
    const encoded = [text, `\ufeff${text}`].flatMap((one) => [
      Buffer.from(one, 'utf16le'),
      Buffer.from(one, 'utf16le').swap16(),
    ]);
    const windows = Buffer.from(text.replace('–', '\u0096'), 'latin1');
    for (const bytes of [...encoded, Buffer.from(`\ufeff${text}`), windows])
      expect(await convert(bytes)).toEqual({ format: 'srt', vtt });
  });
});

describe('broken and hostile subtitles', () => {
  test('cues come in order of time; those that cannot be shown are left out', async () => {
    const source = [
      '00:00:09,000 --> 00:00:08,000\nends before it begins',
      '00:99:00,000 --> 00:99:01,000\nno such minute',
      '00:00:05,000 --> 00:00:06,000\n\nafter an empty line\n42',
      '00:00:01,000 --> 00:00:02,000\n<i></i>',
      '0:0:3,5 --> 0:0:4\nshort',
    ].join('\n\n7\n');
    expect((await convert(source)).vtt).toBe(
      '00:00:03.500 --> 00:00:04.000\nshort\n\n00:00:05.000 --> 00:00:06.000\nafter an empty line\n42\n',
    );
  });

  test('NUL bytes and other control characters are dropped', async () => {
    expect((await convert(cue('a\0b\u0007c\u001bd\u0085e'))).vtt).toBe(shown('abcde'));
  });

  // SUBTITLE-8
  test('a file that is not a subtitle file, or has more than 10 MiB of text, is refused with a reason', async () => {
    for (const [name, content] of Object.entries({
      empty: '',
      binary: Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256),
      prose: 'It was a dark and stormy night.\n',
      'an empty WebVTT file': 'WEBVTT\n',
      'an ASS file without events': '[Script Info]\nScriptType: v4.00+\n',
      MicroDVD: '{0}{25}Hello\n',
      'too much': `WEBVTT\n\n${'x'.repeat(10 * 1024 * 1024)}`,
    })) {
      const { format, vtt } = await convert(content);
      const reason = expect.stringMatching(/is not SRT|no readable cue|10 MiB/);
      expect([name, format, vtt]).toEqual([name, 'refused', reason]);
    }
  });

  test('20,000 cues are read whole', async () => {
    const one = (second: number) => {
      const clock = new Date(second * 1000).toISOString().slice(11, 19);
      return `${second + 1}\n${clock},000 --> ${clock},900\nline\n`;
    };
    const cues = Array.from({ length: 20_000 }, (_, second) => one(second));
    const { vtt } = await convert(cues.join('\n'));
    expect(vtt.match(/^line$/gm)).toHaveLength(20_000);
  });

  test('is read in linear time, whatever it contains', async () => {
    const hostile = [
      cue('<a'.repeat(100_000)),
      cue('{\\'.repeat(100_000)),
      cue('<i></b><u>'.repeat(100_000)),
      `[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,,,,,,,${'{\\t(\\t('.repeat(100_000)}`,
      `${' '.repeat(200_000)}-->\n${'\n'.repeat(200_000)}${cue('x')}`,
    ];
    for (const source of hostile) await convert(source);
  });
});

test('image-based subtitles are recognised: PGS, VobSub and its index', async () => {
  const pgs = `PG${'\0'.repeat(8)}\x16\0\x0b${'\0'.repeat(11)}`;
  expect((await convert(pgs)).format).toBe('pgs');
  expect((await convert(Buffer.from([0, 0, 1, 0xba, 0x44, 0, 4]))).format).toBe('vobsub');
  expect((await convert('# VobSub index file, v7\n')).format).toBe('vobsub');
});

// SUBTITLE-6
// SUBTITLE-10
test('the name of a sidecar determines its video', () => {
  for (const [name, due] of Object.entries({
    'movie.de.srt': ['movie.de und', 'movie de'],
    'Movie.pt_BR.VTT': ['movie.pt_br und', 'movie pt-BR'],
    'movie.srt': ['movie und'],
    'movie.mp4.srt': ['movie.mp4 und', 'movie und'],
    'movie.en.forced.srt': ['movie.en.forced und', 'movie.en und', 'movie en'],
    'movie.en.sdh.srt': ['movie.en.sdh und', 'movie.en und', 'movie en'],
    'Cafe\u0301.de.srt': ['café.de und', 'café de'],
    'movie.cut.srt': ['movie.cut und'],
    'movie.zh-Hans.ass': ['movie.zh-hans und', 'movie zh-Hans'],
    'movie.mp4': [],
    '.srt': [],
  }))
    expect([name, ...sidecarMatches(name).map(({ stem, lang }) => `${stem} ${lang}`)]).toEqual([
      name,
      ...due,
    ]);
});

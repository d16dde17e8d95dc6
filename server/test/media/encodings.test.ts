import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { decodeText } from '../../src/media/text-encoding.ts';
import { fileOf } from './binary.ts';
import { zip } from './packages.ts';
import { extraOf, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

const texts: readonly (readonly [encoding: string, text: string])[] = [
  ['windows-1251', 'Привет мир wallaroo'],
  ['koi8-r', 'Привет, мир! Это проверка кодировки текста. wallaroo'],
  ['ibm866', 'Привет, мир! Это проверка кодировки текста. wallaroo'],
  ['windows-1250', 'Příliš žluťoučký kůň úpěl ďábelské ódy wallaroo'],
  ['windows-1252', 'Grüße aus Köln — “quoted” wallaroo'],
  ['windows-1253', 'Γειά σου Κόσμε wallaroo'],
  ['windows-1255', 'שלום עולם, זה טקסט בעברית wallaroo'],
  ['windows-1256', 'مرحبا بالعالم هذا نص باللغة العربية wallaroo'],
  ['windows-874', 'สวัสดีชาวโลก นี่คือข้อความภาษาไทย wallaroo'],
  ['gbk', '中文说明 wallaroo'],
  ['big5', '你好，世界。這是中文字幕。 wallaroo'],
  ['shift_jis', '東京の夜景 wallaroo'],
  ['euc-jp', 'こんにちは世界。字幕のテストです。 wallaroo'],
  ['euc-kr', '안녕하세요 세계. 자막 시험입니다. wallaroo'],
  ['utf-16le', 'Größe und Länge ohne Zeichen wallaroo'],
  ['utf-16be', 'Größe und Länge ohne Zeichen wallaroo'],
];

// MEDIA-39
describe('a text in any encoding', () => {
  test.each(texts)('is read: %s', (encoding, text) => {
    expect(decodeText(iconv.encode(`${text}\n`, encoding))).toBe(`${text}\n`);
  });

  test.each(texts.filter(([encoding]) => !encoding.startsWith('utf')))(
    'is recognised, drawn and searched: %s',
    async (encoding, text) => {
      const made = await studio.render(iconv.encode(`${text}\n`, encoding));
      expect(pictureOf(made).width).toBeGreaterThan(0);
      expect(made.text?.trim()).toBe(text);
    },
  );

  test.each([
    ['XML', '<?xml version="1.0" encoding="ISO-8859-2"?><a>Łódź</a>'],
    ['HTML', '<html><head><meta charset="iso-8859-2"></head><body>Łódź</body></html>'],
    ['older HTML', '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>Łódź</p>'],
  ])('is read as it declares: %s', (_, text) => {
    expect(decodeText(iconv.encode(text, 'iso-8859-2'))).toBe(text);
  });

  test('is not what bytes are', async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, at) => (at * 97 + 131) % 256);
    expect((await studio.decode(bytes)).mime).toBe('application/octet-stream');
    expect((await studio.decode(fileOf('\xff\xfe\xfd\x80\x81'))).mime).toBe('application/octet-stream');
  });
});

/** Returns a ZIP whose names are in an encoding and not marked as UTF-8. */
function zipNamed(encoding: string, ...names: readonly string[]): Uint8Array {
  const plain = names.map((name) => iconv.encode(name, encoding).toString('latin1'));
  const marked = Buffer.from(zip(Object.fromEntries(plain.map((name) => [name, 'hello']))));
  const archive = Buffer.from(
    plain.reduce(
      (bytes, name) => bytes.replaceAll(Buffer.from(name).toString('latin1'), name),
      marked.toString('latin1'),
    ),
    'latin1',
  );
  const widths = plain.map((name) => [Buffer.byteLength(name), name.length] as const);
  let shorter = 0;
  for (const [signature, flagAt, lengthAt] of [
    ['PK\x03\x04', 6, 26],
    ['PK\x01\x02', 8, 28],
  ] as const) {
    let at = -1;
    for (const [long, short] of widths) {
      at = archive.indexOf(signature, at + 1, 'latin1');
      archive.writeUInt16LE(archive.readUInt16LE(at + flagAt) & ~0x800, at + flagAt);
      archive.writeUInt16LE(short, at + lengthAt);
      if (signature === 'PK\x01\x02') continue;
      shorter += long - short;
    }
  }
  // The directory starts earlier, because names are shorter.
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const directory = archive.indexOf('PK\x01\x02', 0, 'latin1');
  archive.writeUInt32LE(end - directory, end + 12);
  archive.writeUInt32LE(directory, end + 16);
  expect(shorter).toBeGreaterThanOrEqual(0);
  return Uint8Array.from(archive);
}

// MEDIA-20
test.each([
  ['the Finder, in unmarked UTF-8', 'utf-8', ['Größe/東京.txt']],
  ['Japanese Windows', 'shift_jis', ['東京/夜景.jpg', 'メモ.txt']],
  ['Chinese Windows', 'gbk', ['中文说明/照片.txt']],
  ['DOS', 'cp437', ['Größe/Müller.txt']],
])('the names in a ZIP are those that %s wrote', async (_, encoding, names) => {
  const made = await studio.render(zipNamed(encoding, ...names));
  const list = await extraOf(made, 'contents.json');
  const { entries }: { entries: { path: string }[] } = JSON.parse(String(list));
  expect(entries.map(({ path }) => path)).toEqual(names);
});

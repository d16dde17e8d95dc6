import { describe, expect, test } from 'vitest';
import { secondsOfFrames } from '../../src/media/audio/frames.ts';
import { sniff } from '../../src/media/sniff.ts';
import { type Bytes, fileOf } from './binary.ts';
import { clip } from './clips.ts';
import { openStudio } from './still-kit.ts';

const studio = openStudio({ ffmpeg: 'off' });

const mp3 = (muxing: Record<string, string> = {}) =>
  clip({
    format: 'mp3',
    audio: { encoder: 'libmp3lame', options: { compression_level: '9' } },
    seconds: 3,
    muxing: { write_xing: '0', id3v2_version: '0', ...muxing },
  });
const adts = () => clip({ format: 'adts', audio: { encoder: 'aac' }, seconds: 3 });
const zeros = (length: number) => new Uint8Array(length);
const id3 = fileOf('ID3\x04\0\0\0\0\x20\0', zeros(4096));

// MEDIA-48
describe('a sound with bytes before its first frame', () => {
  test.each<[string, () => Promise<Bytes>, string]>([
    ['zeros before MP3', async () => fileOf(zeros(3000), await mp3()), 'audio/mpeg'],
    ['100,000 zeros before MP3', async () => fileOf(zeros(100_000), await mp3()), 'audio/mpeg'],
    ['other bytes before MP3', async () => fileOf('\0\xff\xfbjunk'.repeat(90), await mp3()), 'audio/mpeg'],
    ['zeros after a tag', async () => fileOf(id3, zeros(3000), await mp3()), 'audio/mpeg'],
    ['zeros before AAC', async () => fileOf(zeros(1000), await adts()), 'audio/aac'],
  ])('is recognised and drawn: %s', async (_, make, due) => {
    const { mime, ladder, facts } = await studio.decode(await make());
    expect([mime, ladder.outcome]).toEqual([due, 'rendered']);
    expect(facts.duration_seconds).toBeCloseTo(3, 0);
  });

  test('is not found in other bytes', async () => {
    const noise = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7919 + (at >> 3) * 104_729) & 255);
    const { path } = await studio.place(noise);
    expect((await sniff(path)).mime).toBe('application/octet-stream');
  });
});

// MEDIA-48
describe('the duration of a sound without a header', () => {
  const secondsIn = async (bytes: Uint8Array) => secondsOfFrames((await studio.place(bytes)).path);

  test.each<[string, () => Promise<Bytes>, number]>([
    ['MP3 without Xing', () => mp3(), 3],
    ['MP3 with a header', () => mp3({ write_xing: '1' }), 3],
    ['MP3 that was cut', async () => (await mp3({ write_xing: '1' })).slice(0, 12_000), 0.75],
    ['MP3 with a tag', async () => fileOf(id3, await mp3()), 3],
    ['ADTS', adts, 3],
    // Encoding as much takes ten seconds.
    ['a long ADTS', async () => fileOf(...Array<Bytes>(26).fill(await adts())), 26 * 142 * (1024 / 48_000)],
  ])('is that of its frames: %s', async (_, make, due) => {
    const bytes = await make();
    const seconds = (await secondsIn(bytes)) ?? 0;
    expect(Math.abs(seconds - due)).toBeLessThan(0.2);
    const { facts } = await studio.decode(bytes);
    expect(Math.abs(seconds - (facts.duration_seconds ?? 0))).toBeLessThan(0.08);
  });

  test('is unknown for other files', async () => {
    expect(await secondsIn(zeros(5000))).toBeNull();
  });
});

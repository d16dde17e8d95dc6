import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ffmpegOf } from '../../src/media/ffmpeg/choose.ts';
import type { Ffmpeg, SubtitleStream, TimedText } from '../../src/media/ffmpeg/ffmpeg.ts';
import { readEmbedded } from '../../src/media/subtitles/embedded.ts';
import { everyFfmpeg } from './clips.ts';
import { openStudio } from './still-kit.ts';

const fileOf = (name: string) => readFile(new URL(`files/${name}`, import.meta.url));

// SUBTITLE-9
describe.for(everyFfmpeg)('with $name', ({ setting, isHere }) => {
  const studio = openStudio({ ffmpeg: setting });

  test.skipIf(!isHere).each(['subtitles.mkv', 'subtitles.mp4'])(
    'the subtitles inside %s are found',
    async (name) => {
      const { subtitles = [] } = await studio.decode(await fileOf(name));
      expect(subtitles).toMatchObject([{ lang: 'en', label: '', format: 'srt' }]);
      expect(await readFile(subtitles[0]?.path ?? '', 'utf8')).toBe(
        'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nEmbedded wallaby\n',
      );
    },
  );

  // SUBTITLE-12
  test.skipIf(!isHere).each([
    ['PGS', 'S_HDMV/PGS\0'],
    ['VobSub', 'S_VOBSUB\0\0\0'],
    ['DVB', 'S_DVBSUB\0\0\0'],
  ])('a film whose subtitles are pictures (%s) is drawn, and says that it has some', async (_, codec) => {
    const film = await fileOf('subtitles.mkv');
    film.write(codec, film.indexOf('S_TEXT/UTF8'), 'latin1');
    const made = await studio.decode(film);
    expect(made.ladder.outcome).toBe('rendered');
    expect(made.subtitles ?? []).toEqual([]);
    expect(made.facts).toMatchObject({ has_video: true, picture_subtitles: 1 });
    expect((await studio.transcode(film)).outcome).toBe('done');
    expect((await studio.decode(await fileOf('subtitles.mkv'))).facts).not.toHaveProperty(
      'picture_subtitles',
    );
  });
});

// SUBTITLE-9
describe('the tracks inside a film', async () => {
  const { place } = openStudio();
  const plain = await ffmpegOf('off');

  /** Reads tracks with these texts, which begin every two seconds. */
  async function read(
    tracks: readonly (Partial<SubtitleStream> & { data: readonly Buffer[]; lasts?: number })[],
  ) {
    const texts: TimedText[] = tracks.flatMap(({ data, lasts = 1 }, index) =>
      data.map((one, at) => ({ index, startSeconds: at * 2, durationSeconds: lasts, data: one })),
    );
    const player: Ffmpeg = { ...plain, texts: async () => texts };
    const { path, outDir } = await place(new Uint8Array());
    const streams = tracks.map((track, index) => ({
      ...{ index, codec: 'subrip', language: 'eng', title: '', kind: 'full' as const },
      ...track,
    }));
    const made = await readEmbedded(player, { path, mime: 'video/matroska' }, streams, outDir);
    return Promise.all(made.map(async (one) => ({ ...one, text: await readFile(one.path, 'utf8') })));
  }

  const one = [Buffer.from('Hello')];
  const timed = (text: string | Buffer) => {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes, Buffer.from('styl')]);
  };

  test.each<[string, Buffer, string, string]>([
    ['subrip', Buffer.from('<i>Hi</i> <font color="red">you</font>'), 'srt', '<i>Hi</i> you'],
    ['webvtt', Buffer.from('<v Ann>Hi &amp; bye'), 'vtt', 'Hi &amp; bye'],
    ['mov_text', timed('Größe'), 'srt', 'Größe'],
    ['mov_text', timed(Buffer.from('\ufeff東京', 'utf16le').swap16()), 'srt', '東京'],
    ['ass', Buffer.from('0,0,Default,,0,0,0,,{\\i1}Hi,{\\i0} you\\Nthere'), 'ass', 'Hi, you\nthere'],
    ['ssa', Buffer.from('0,Marked=0,Default,,0,0,0,,Hi'), 'ssa', 'Hi'],
  ])('of the codec %s are converted', async (codec, data, format, due) => {
    expect(await read([{ codec, data: [data] }])).toMatchObject([
      { format, text: `WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n${due}\n` },
    ]);
  });

  test('have different tags and say what they are', async () => {
    const tracks = await read([
      { data: one },
      { data: one, kind: 'forced' },
      { data: one, kind: 'sdh' },
      { data: one, title: 'Director' },
      { data: one, language: 'ger' },
      { data: one, language: 'pt_BR' },
      { data: one, language: '' },
      { data: one, language: 'no such language' },
    ]);
    expect(tracks.map(({ lang }) => lang)).toEqual([
      ...['en', 'en-x-forced', 'en-x-sdh', 'en-x-2', 'de', 'pt-BR', 'und', 'und-x-2'],
    ]);
    expect(tracks.map(({ label }) => label)).toEqual(['', 'Forced', 'SDH', 'Director', '', '', '', '']);
  });

  test('are left out if they are pictures or have no text', async () => {
    expect(
      await read([{ codec: 'hdmv_pgs_subtitle', data: one }, { data: [] }, { data: [Buffer.alloc(3)] }]),
    ).toEqual([]);
  });

  test('show a text without a duration until the next one', async () => {
    const [track] = await read([{ lasts: 0, data: [...one, ...one] }]);
    expect(track?.text).toContain('00:00:00.000 --> 00:00:02.000\n');
    expect(track?.text).toContain('00:00:02.000 --> 00:00:07.000\n');
  });
});

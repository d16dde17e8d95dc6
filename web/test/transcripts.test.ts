import { describe, expect, test } from 'vitest';
import { trackName } from '#lib/assets/labels.ts';
import { passagesWith, readTranscript } from '../src/lib/transcripts/transcript.ts';

const vtt = `WEBVTT

NOTE made by the converter

1
00:00:01.000 --> 00:00:03.500 line:90%
<i>The</i> bell &amp; the
buoy

00:00:03.600 --> 00:00:05.000
The bell & the buoy

01:02:03.250 --> 01:02:05.000
À marée haute

00:00:08.000 --> 00:00:09.000
<b></b>
`;

test('names a subtitle track by its label, or its language if that has a name', () => {
  const names = [
    { lang: 'pt-BR', label: '' },
    { lang: 'de', label: 'de' },
    { lang: 'en', label: 'Director' },
    { lang: 'und', label: '' },
    { lang: 'en-x-forced', label: '' },
  ].map(trackName);
  expect(names).toEqual(['Brazilian Portuguese', 'German', 'Director', 'an unknown language', 'en-x-forced']);
});

// SUBTITLE-13
describe('a transcript', () => {
  const passages = readTranscript(vtt);

  test('has the words of the subtitles with their times, without markup, and repeated words once', () => {
    expect(passages).toEqual([
      { start: 1, end: 5, text: 'The bell & the buoy' },
      { start: 3723.25, end: 3725, text: 'À marée haute' },
    ]);
    expect(readTranscript('WEBVTT')).toEqual([]);
    expect(readTranscript('<html>')).toEqual([]);
  });

  test('is searched in any case and without regard to accents', () => {
    const found = (words: string) => passagesWith(passages, words).map(({ start }) => start);
    expect([found('BELL'), found('a maree'), found(''), found('whale')]).toEqual([
      [1],
      [3723.25],
      [1, 3723.25],
      [],
    ]);
  });
});

import type { MediaFacts } from '@vitrine/contract/media';
import { escapeHtml } from '../../../platform/escape-html.ts';
import { type ExportedAnnotation, onOneLine, wordingOf } from './read.ts';
import { type Counting, type Span, spanOf, timecodeOf } from './timecode.ts';

/** The markers of a film, in its order. */
interface Timeline {
  name: string;
  counting: Counting;
  facts: MediaFacts;
  markers: readonly (Span & { text: string; resolved: boolean })[];
}

/** Returns the annotations of the current version that have a time. */
export function timelineOf(
  name: string,
  facts: MediaFacts,
  counting: Counting,
  annotations: readonly ExportedAnnotation[],
): Timeline {
  const markers = annotations.flatMap((annotation) => {
    const { anchor, current, resolved_at } = annotation;
    if (!current || anchor.kind !== 'time') return [];
    return [{ ...spanOf(anchor, counting), text: wordingOf(annotation), resolved: resolved_at !== null }];
  });
  return { name: onOneLine(name), counting, facts, markers: markers.sort((a, b) => a.frame - b.frame) };
}

/** The frames of the film, or as many as its markers need. */
function lengthOf({ facts, counting: { rate }, markers }: Timeline): number {
  const known = Math.ceil(((facts.duration_seconds ?? 0) * rate.num) / rate.den);
  return Math.max(1, known, ...markers.map(({ frame, length }) => frame + length));
}

/** Writes an edit decision list (CMX 3600) with an event and a locator for each marker. */
export function writeEdl({ name, counting, markers }: Timeline): string {
  const at = (frame: number) => timecodeOf(counting.start + frame, counting);
  const events = markers.flatMap(({ frame, length, text, resolved }, index) => {
    const [from, to] = [at(frame), at(frame + length)];
    return [
      `${String(index + 1).padStart(3, '0')}  AX       V     C        ${from} ${to} ${from} ${to}`,
      `* FROM CLIP NAME: ${name}`,
      `* LOC: ${from} ${resolved ? 'GREEN' : 'RED'} ${text}`,
      '',
    ];
  });
  const mode = counting.dropFrame ? 'DROP FRAME' : 'NON-DROP FRAME';
  return [`TITLE: ${name}`, `FCM: ${mode}`, '', ...events].join('\n');
}

/** Writes a timeline of OpenTimelineIO, whose only clip has the markers. */
export function writeOtio(timeline: Timeline): string {
  const { name, counting, markers } = timeline;
  const rate = counting.rate.num / counting.rate.den;
  const time = (value: number) => ({ OTIO_SCHEMA: 'RationalTime.1', rate, value });
  const range = (start: number, duration: number) => ({
    OTIO_SCHEMA: 'TimeRange.1',
    start_time: time(start),
    duration: time(duration),
  });
  const whole = range(0, lengthOf(timeline));
  const clip = {
    OTIO_SCHEMA: 'Clip.2',
    name,
    metadata: {},
    source_range: whole,
    effects: [],
    enabled: true,
    active_media_reference_key: 'DEFAULT_MEDIA',
    media_references: {
      DEFAULT_MEDIA: { OTIO_SCHEMA: 'MissingReference.1', name, metadata: {}, available_range: whole },
    },
    markers: markers.map(({ frame, length, text, resolved }) => ({
      OTIO_SCHEMA: 'Marker.2',
      name: text,
      comment: text,
      color: resolved ? 'GREEN' : 'RED',
      metadata: { vitrine: { resolved } },
      marked_range: range(frame, length),
    })),
  };
  const track = { OTIO_SCHEMA: 'Track.1', name: 'V1', kind: 'Video', metadata: {}, children: [clip] };
  const document = {
    OTIO_SCHEMA: 'Timeline.1',
    name,
    metadata: {},
    global_start_time: time(counting.start),
    tracks: { OTIO_SCHEMA: 'Stack.1', name: 'tracks', metadata: {}, children: [track] },
  };
  return JSON.stringify(document, null, 2);
}

/** Writes a project of Final Cut Pro, whose only clip has the markers. */
export function writeFcpxml(timeline: Timeline): string {
  const { name, counting, markers } = timeline;
  const { num, den } = counting.rate;
  const time = (frames: number) => (frames === 0 ? '0s' : `${frames * den}/${num}s`);
  const title = escapeHtml(name);
  const duration = time(lengthOf(timeline));
  const marks = markers.map(
    ({ frame, length, text, resolved }) =>
      `              <marker start="${time(frame)}" duration="${time(length)}" value="${escapeHtml(text)}" completed="${resolved ? 1 : 0}"/>`,
  );
  const format = `tcStart="${time(counting.start)}" tcFormat="${counting.dropFrame ? 'DF' : 'NDF'}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE fcpxml>',
    '<fcpxml version="1.9">',
    '  <resources>',
    `    <format id="r1" frameDuration="${time(1)}"/>`,
    `    <asset id="r2" name="${title}" start="0s" duration="${duration}" hasVideo="1" format="r1">`,
    '      <media-rep kind="original-media" src="file:///"/>',
    '    </asset>',
    '  </resources>',
    '  <library>',
    `    <event name="${title}">`,
    `      <project name="${title}">`,
    `        <sequence format="r1" duration="${duration}" ${format}>`,
    '          <spine>',
    `            <asset-clip ref="r2" name="${title}" offset="${time(counting.start)}" start="0s" duration="${duration}" format="r1">`,
    ...marks,
    '            </asset-clip>',
    '          </spine>',
    '        </sequence>',
    '      </project>',
    '    </event>',
    '  </library>',
    '</fcpxml>',
    '',
  ].join('\n');
}

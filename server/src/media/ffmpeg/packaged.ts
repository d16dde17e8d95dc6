import type { AVPixelFormat, Decoder, Encoder, FilterAPI, Frame, Muxer, Packet, Stream } from 'node-av';
import { sentence } from '../../platform/language/sentence.ts';
import { BrokenFile, NotDrawable } from '../still.ts';
import { demuxerOf } from './demuxers.ts';
import {
  type Ffmpeg,
  type FramesRequest,
  intervalFilter,
  MOST_TEXT_BYTES,
  type Output,
  type Probe,
  SAMPLE_RATE,
  type Source,
  type TimedText,
  type VideoStream,
} from './ffmpeg.ts';
import {
  croppingIn,
  cutting,
  dolbyVisionIn,
  faultOf,
  framesOf,
  type Opened,
  openFile,
  packetsOf,
  withFile,
} from './packaged-files.ts';
import { isUnclear, MOST_COUNTED_SECONDS, readStreams, type StreamFacts } from './streams.ts';

/** One stream of an output, from decoded frames to the file. */
interface Track {
  filter: FilterAPI;
  encoder: Encoder;
  muxer: Muxer;
  position: number;
}

async function push(tracks: readonly Track[], frame: Frame | null): Promise<void> {
  for (const { filter, encoder, muxer, position } of tracks) {
    const write = async (ready: Frame | null) => {
      for (const packet of await encoder.encodeAll(ready)) {
        await muxer.writePacket(packet, position);
        packet.free();
      }
      ready?.free();
    };
    await filter.process(frame);
    // Receives frames one at a time, because one frame with a duration of an hour becomes a hundred thousand.
    for (let ready = await filter.receive(); ready; ready = await filter.receive()) {
      await write(ready);
    }
    if (frame === null) await write(null);
  }
}

/** Returns the FFmpeg of the npm package `node-av`. Throws NotDrawable if it is not installed. */
export async function packagedFfmpeg(): Promise<Ffmpeg> {
  const av = await import('node-av').catch(() => {
    throw new NotDrawable(sentence('this server has no FFmpeg'));
  });
  av.Log.setLevel(av.AV_LOG_QUIET);
  // Without `unaligned`, the left edge that H.264 crops is rounded for the processor.
  const lenient = { exitOnError: false, options: { flags: '+unaligned' } };
  const decoderOf = (stream: Stream, name: VideoStream['decoder'] = null) => {
    const codec =
      name === null
        ? null
        : av.Codec.findDecoderByName(name === 'libvpx' ? av.FF_DECODER_LIBVPX_VP8 : av.FF_DECODER_LIBVPX_VP9);
    const opening =
      codec === null ? av.Decoder.create(stream, lenient) : av.Decoder.create(stream, codec, lenient);
    return opening.catch((error: unknown) => {
      throw faultOf(av, error);
    });
  };

  const kinds = new Map<number, StreamFacts['kind']>([
    [av.AVMEDIA_TYPE_VIDEO, 'video'],
    [av.AVMEDIA_TYPE_AUDIO, 'audio'],
    [av.AVMEDIA_TYPE_SUBTITLE, 'subtitle'],
  ]);
  const interlaced: readonly number[] = [av.AV_FIELD_TT, av.AV_FIELD_BB, av.AV_FIELD_TB, av.AV_FIELD_BT];
  const pictures = [
    av.AV_DISPOSITION_ATTACHED_PIC,
    av.AV_DISPOSITION_TIMED_THUMBNAILS,
    av.AV_DISPOSITION_STILL_IMAGE,
  ];
  const secondary = [
    av.AV_DISPOSITION_COMMENT,
    av.AV_DISPOSITION_HEARING_IMPAIRED,
    av.AV_DISPOSITION_VISUAL_IMPAIRED,
    av.AV_DISPOSITION_CLEAN_EFFECTS,
    av.AV_DISPOSITION_KARAOKE,
  ];

  function factsOf({ turnOf }: Opened, stream: Stream): StreamFacts {
    const { codecpar, index } = stream;
    const isKnown = codecpar.codecId !== av.AV_CODEC_ID_NONE;
    const known = Number(stream.nbFrames);
    const ofStream = stream.sampleAspectRatio;
    const tags: Record<string, string> = stream.metadata?.getAll() ?? {};
    return {
      index,
      kind: kinds.get(codecpar.codecType) ?? 'other',
      codec: isKnown ? (av.avGetCodecName(codecpar.codecId) ?? '') : null,
      frames: known > 0 ? known : null,
      disposition: {
        default: stream.hasDisposition(av.AV_DISPOSITION_DEFAULT),
        picture: pictures.some((flag) => stream.hasDisposition(flag)),
        forced: stream.hasDisposition(av.AV_DISPOSITION_FORCED),
        hearingImpaired:
          stream.hasDisposition(av.AV_DISPOSITION_HEARING_IMPAIRED) ||
          stream.hasDisposition(av.AV_DISPOSITION_CAPTIONS),
        secondary: secondary.some((flag) => stream.hasDisposition(flag)),
      },
      width: codecpar.width,
      height: codecpar.height,
      pixelAspect: ofStream.num > 0 ? ofStream : codecpar.sampleAspectRatio,
      rotation: turnOf(stream).rotation,
      averageRate: stream.avgFrameRate,
      baseRate: stream.rFrameRate,
      fieldOrder: interlaced.includes(Number(codecpar.toJSON().fieldOrder ?? 0))
        ? 'interlaced'
        : 'progressive',
      // Only the format of a video is one of pixels.
      pixelFormat:
        codecpar.codecType === av.AVMEDIA_TYPE_VIDEO
          ? (av.avGetPixFmtName(codecpar.format as AVPixelFormat) ?? '')
          : '',
      alphaMode: tags.alpha_mode ?? tags.ALPHA_MODE ?? '',
      dolbyVision: dolbyVisionIn(codecpar.getCodedSideData(av.AV_PKT_DATA_DOVI_CONF)),
      crop: croppingIn(codecpar.getCodedSideData(av.AV_PKT_DATA_FRAME_CROPPING)),
      colour: {
        primaries: codecpar.colorPrimaries,
        transfer: codecpar.colorTrc,
        matrix: codecpar.colorSpace,
      },
      language: tags.language ?? tags.LANGUAGE ?? '',
      title: tags.title ?? tags.TITLE ?? '',
      timecode: tags.timecode ?? tags.TIMECODE ?? '',
    };
  }

  function probeOf(opened: Opened, counts?: ReadonlyMap<number, number>): Probe {
    const { demuxer } = opened;
    const facts = demuxer.streams.map((stream) => factsOf(opened, stream));
    const counted = facts.map((stream) => ({
      ...stream,
      frames: counts?.get(stream.index) ?? stream.frames,
    }));
    return readStreams(counted, demuxer.duration > 0 ? demuxer.duration : null);
  }

  /** Returns the number of packets of each stream at the beginning of a file, if it decides what the film is. */
  async function countPackets(opened: Opened): Promise<Map<number, number> | undefined> {
    const { demuxer } = opened;
    if (!isUnclear(demuxer.streams.map((stream) => factsOf(opened, stream)))) return;
    const counts = new Map(demuxer.streams.map(({ index }) => [index, 0]));
    const end = Math.max(0, demuxer.startTime) + MOST_COUNTED_SECONDS;
    for await (const packet of packetsOf(opened)) {
      counts.set(packet.streamIndex, (counts.get(packet.streamIndex) ?? 0) + 1);
      const { num, den } = opened.stream(packet.streamIndex).timeBase;
      if (Number(packet.pts) * (num / den) > end) break;
    }
    return counts;
  }

  /** Returns a filter for upright frames of a stream, without what its container cuts off. */
  function pictureFilter(
    opened: Opened,
    stream: Stream,
    crop: VideoStream['crop'],
    filter: string,
  ): FilterAPI {
    const filters = [...(crop === null ? [] : [cutting(crop)]), ...opened.turnOf(stream).filters];
    return av.FilterAPI.create([...filters, filter].join(','), { framerate: stream.avgFrameRate });
  }

  async function* framesAtIntervals(
    source: Source,
    { index, crop, decoder: name }: VideoStream,
    { count, interval, filter: description, width, height, exact, signal }: FramesRequest,
  ): AsyncGenerator<Buffer> {
    const closing: (() => unknown)[] = [];
    try {
      const opened = await openFile(av, source);
      closing.unshift(() => opened.demuxer.close());
      const stream = opened.stream(index);
      // The demuxers of some formats then skip other frames without reading them.
      if (!exact) stream.discard = av.AVDISCARD_NONKEY;
      const decoder = await decoderOf(stream, name);
      closing.unshift(() => decoder.close());
      const start = Math.max(0, opened.demuxer.startTime);
      const chain = `setpts=PTS-${start}/TB,${intervalFilter({ interval })},${description}`;
      const filter = pictureFilter(opened, stream, crop, chain);
      closing.unshift(() => filter.close());
      let taken = 0;
      async function* take(frame: Frame | null) {
        await filter.process(frame);
        // One at a time: a jump of the timestamps becomes any number of frames.
        for (let ready = await filter.receive(); ready && taken < count; ready = await filter.receive()) {
          const pixels = ready.toBuffer();
          ready.free();
          taken += 1;
          if (pixels.length === width * height * 3) yield pixels;
        }
      }
      const isWanted = exact ? undefined : (packet: Packet) => packet.isKeyframe;
      for await (const frame of framesOf(opened, decoder, index, isWanted)) {
        yield* take(frame);
        if (signal.aborted || taken >= count) return;
      }
      yield* take(null);
    } catch (error) {
      throw faultOf(av, error);
    } finally {
      for (const close of closing) await close();
    }
  }

  async function* monoSamples(source: Source, index: number): AsyncGenerator<Buffer> {
    const closing: (() => unknown)[] = [];
    try {
      const opened = await openFile(av, source);
      closing.unshift(() => opened.demuxer.close());
      const decoder = await decoderOf(opened.stream(index));
      closing.unshift(() => decoder.close());
      const filter = av.FilterAPI.create(
        `aresample=${SAMPLE_RATE},aformat=sample_fmts=s16:channel_layouts=mono`,
      );
      closing.unshift(() => filter.close());
      async function* take(frame: Frame | null) {
        for (const ready of await filter.processAll(frame)) {
          yield ready.toBuffer();
          ready.free();
        }
      }
      for await (const frame of framesOf(opened, decoder, index)) yield* take(frame);
      yield* take(null);
    } catch (error) {
      throw faultOf(av, error);
    } finally {
      for (const close of closing) await close();
    }
  }

  return {
    hasFilter: async (name) => av.Filter.getByName(name) !== null,
    probe: (source) => withFile(av, source, async (opened) => probeOf(opened, await countPackets(opened))),
    findDuration: (source) =>
      withFile(av, source, async (opened) => {
        let last = 0;
        let pictures = 0;
        const { video } = probeOf(opened);
        for await (const packet of packetsOf(opened)) {
          if (packet.streamIndex === video?.index) pictures += 1;
          // A packet without a timestamp has AV_NOPTS_VALUE, which is negative.
          if (packet.pts < 0n) continue;
          const { num, den } = opened.stream(packet.streamIndex).timeBase;
          last = Math.max(last, Number(packet.pts + packet.duration) * (num / den));
        }
        if (last > 0) return Math.max(0, last - Math.max(0, opened.demuxer.startTime));
        const { num, den } = video?.frameRate ?? { num: 25, den: 1 };
        return (pictures * den) / num;
      }),
    frame: (
      source,
      { index, crop, decoder: name },
      { atSeconds, filter: description, width, height, exact },
    ) =>
      withFile(av, source, async (opened) => {
        const stream = opened.stream(index);
        const wanted = atSeconds + Math.max(0, opened.demuxer.startTime);
        const from = Math.max(0, atSeconds - demuxerOf(source.mime).seekMargin);
        if (from > 0) await opened.demuxer.seek(wanted - (atSeconds - from), -1, av.AVSEEK_FLAG_BACKWARD);
        const decoder = await decoderOf(stream, name);
        const filter = pictureFilter(opened, stream, crop, description);
        const { num, den } = stream.timeBase;
        try {
          for await (const frame of framesOf(opened, decoder, index)) {
            const time = Number(frame.bestEffortTimestamp) * (num / den);
            // Allows half a millisecond, because timestamps are rounded.
            if (exact && Number.isFinite(time) && time < wanted - 0.0005) continue;
            const drawn = await filter.processAll(frame);
            if (drawn.length === 0) drawn.push(...(await filter.processAll(null)));
            const pixels = drawn[0]?.toBuffer() ?? null;
            for (const image of drawn) image.free();
            return pixels?.length === width * height * 3 ? pixels : null;
          }
          return null;
        } finally {
          filter.close();
          decoder.close();
        }
      }),
    frames: framesAtIntervals,
    cover: (source, index) =>
      withFile(av, source, async (opened) => {
        // Avoids `stream.attachedPic`, which frees the picture twice in this library.
        for await (const packet of packetsOf(opened, index)) {
          if (packet.data !== null) return Buffer.from(packet.data);
        }
        return null;
      }),
    texts: (source, indices) =>
      withFile(av, source, async (opened) => {
        const start = Math.max(0, opened.demuxer.startTime);
        const texts: TimedText[] = [];
        let length = 0;
        for (const stream of opened.demuxer.streams) {
          if (!indices.includes(stream.index)) stream.discard = av.AVDISCARD_ALL;
        }
        for await (const packet of packetsOf(opened)) {
          if (!indices.includes(packet.streamIndex) || packet.data === null || packet.pts < 0n) continue;
          const { num, den } = opened.stream(packet.streamIndex).timeBase;
          length += packet.data.length;
          if (length > MOST_TEXT_BYTES) throw new BrokenFile(sentence('its subtitles are too long'));
          texts.push({
            index: packet.streamIndex,
            startSeconds: Number(packet.pts) * (num / den) - start,
            durationSeconds: Number(packet.duration) * (num / den),
            data: Buffer.from(packet.data),
          });
        }
        return texts;
      }),
    samples: (source, { index }) => monoSamples(source, index),
    encode: (source, probe, outputs, onTime) =>
      withFile(av, source, (opened) => encode(opened, probe, outputs, onTime)),
  };

  async function encode(
    opened: Opened,
    probe: Probe,
    outputs: readonly Output[],
    onTime: (seconds: number) => void,
  ): Promise<void> {
    const closing: (() => unknown)[] = [];
    const muxers: Muxer[] = [];
    const tracks = { video: [] as Track[], audio: [] as Track[] };
    const videoStream = probe.video === null ? null : opened.stream(probe.video.index);
    const audioStream = probe.audio === null ? null : opened.stream(probe.audio.index);
    // Transport streams start at an arbitrary time; the video and audio of an output both start at 0.
    const start = Math.max(0, opened.demuxer.startTime);
    try {
      for (const { path, format, options, video, audio } of outputs) {
        const muxer = await av.Muxer.open(path, { format, options: { ...options } });
        muxers.push(muxer);
        const add = (to: Track[], filter: FilterAPI, encoder: Encoder) => {
          closing.push(
            () => filter.close(),
            () => encoder.close(),
          );
          to.push({ filter, encoder, muxer, position: muxer.addStream(encoder) });
        };
        if (video !== null && videoStream !== null) {
          const filter = pictureFilter(
            opened,
            videoStream,
            probe.video?.crop ?? null,
            `setpts=PTS-${start}/TB,${video.filter}`,
          );
          const { g, ...others } = video.options;
          const encoder = await av.Encoder.create(av.FF_ENCODER_LIBX264, {
            filter,
            options: others,
            ...(g === undefined ? {} : { gopSize: Number(g) }),
          });
          add(tracks.video, filter, encoder);
        }
        if (audio !== null && audioStream !== null) {
          const filter = av.FilterAPI.create(
            `asetpts=PTS-${start}/TB,aresample=48000,aformat=sample_fmts=fltp:channel_layouts=stereo`,
          );
          add(
            tracks.audio,
            filter,
            await av.Encoder.create(av.FF_ENCODER_AAC, { filter, bitrate: audio.bitRate }),
          );
        }
      }
      const decoders = new Map<number, { decoder: Decoder; to: Track[] }>();
      for (const [stream, to] of [
        [videoStream, tracks.video],
        [audioStream, tracks.audio],
      ] as const) {
        if (stream === null || to.length === 0) continue;
        const name = stream === videoStream ? probe.video?.decoder : null;
        const decoder = await decoderOf(stream, name);
        closing.push(() => decoder.close());
        decoders.set(stream.index, { decoder, to });
      }
      for await (const packet of packetsOf(opened)) {
        const path = decoders.get(packet.streamIndex);
        if (path === undefined) continue;
        for (const frame of await path.decoder.decodeAll(packet)) {
          frame.removeSideData(av.AV_FRAME_DATA_DISPLAYMATRIX);
          await push(path.to, frame);
          frame.free();
        }
        const { num, den } = opened.stream(packet.streamIndex).timeBase;
        const time = Number(packet.pts) * (num / den) - start;
        if (time > 0 && Number.isFinite(time)) onTime(time);
      }
      for (const { decoder, to } of decoders.values()) {
        for (const frame of await decoder.decodeAll(null)) {
          frame.removeSideData(av.AV_FRAME_DATA_DISPLAYMATRIX);
          await push(to, frame);
          frame.free();
        }
        await push(to, null);
      }
    } finally {
      // Headers are written with the first packet, so a file without any packet fails here too.
      for (const muxer of muxers) await muxer.close();
      for (const close of closing) close();
    }
  }
}

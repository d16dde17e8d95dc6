/**
 * FFmpeg's demuxers by media type. A file is opened with its own demuxer only, so that playlists, concat scripts and
 * other formats that refer to further files are never read.
 */
interface Demuxer {
  name: string;
  /** All names of the demuxer. */
  names: string;
  /** Number of seconds by which a seek may overshoot, because the format has no keyframe index. */
  seekMargin: number;
}

const alone = (name: string, seekMargin = 0): Demuxer => ({ name, names: name, seekMargin });
const mov: Demuxer = { ...alone('mov'), names: 'mov,mp4,m4a,3gp,3g2,mj2' };
const matroska: Demuxer = { ...alone('matroska'), names: 'matroska,webm' };
/** Usual maximum distance between keyframes. */
const GOP_SECONDS = 10;

const demuxers: ReadonlyMap<string, Demuxer> = new Map([
  ['video/mp4', mov],
  ['video/quicktime', mov],
  ['video/x-m4v', mov],
  ['video/3gpp', mov],
  ['video/3gpp2', mov],
  ['video/webm', matroska],
  ['video/matroska', matroska],
  ['video/x-matroska', matroska],
  ['video/vnd.avi', alone('avi')],
  ['video/mp2t', alone('mpegts', GOP_SECONDS)],
  ['video/ogg', alone('ogg')],
  ['video/x-ms-asf', alone('asf')],
  ['application/vnd.ms-asf', alone('asf')],
  ['video/x-flv', alone('flv')],
  ['video/mpeg', alone('mpegvideo', GOP_SECONDS)],
  ['video/MP1S', alone('mpeg', GOP_SECONDS)],
  ['video/MP2P', alone('mpeg', GOP_SECONDS)],
  ['application/mxf', alone('mxf')],
  ['audio/mpeg', alone('mp3')],
  ['audio/mp4', mov],
  ['audio/x-m4a', mov],
  ['audio/webm', matroska],
  ['audio/matroska', matroska],
  ['audio/wav', alone('wav')],
  ['audio/flac', alone('flac')],
  ['audio/ogg', alone('ogg')],
  ['audio/ogg; codecs=opus', alone('ogg')],
  ['application/ogg', alone('ogg')],
  ['audio/aiff', alone('aiff')],
  ['audio/aac', alone('aac')],
  ['audio/amr', alone('amr')],
  ['audio/ape', alone('ape')],
  ['audio/wavpack', alone('wv')],
  ['audio/vnd.dolby.dd-raw', alone('ac3')],
  ['audio/x-caf', alone('caf')],
  ['audio/x-dsf', alone('dsf')],
  ['audio/x-dff', alone('iff')],
  ['audio/x-ms-asf', alone('asf')],
  ['audio/x-voc', alone('voc')],
]);

/** Every media type that is read with FFmpeg. */
export const mediaTypes: readonly string[] = [...demuxers.keys()];

/** Returns the demuxer of a media type. Throws for a type that is not in `mediaTypes`. */
export function demuxerOf(mime: string): Demuxer {
  const demuxer = demuxers.get(mime);
  if (demuxer === undefined) throw new Error(`no demuxer for ${mime}`);
  return demuxer;
}

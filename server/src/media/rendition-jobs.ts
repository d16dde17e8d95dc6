import { type RenditionName, renditionNameOf } from '@vitrine/contract/renditions';

/** The job that makes each rendition: `render` with the preview ladder, the others later because they take long. */
const jobs: Readonly<Record<RenditionName, 'render' | 'transcode' | 'tiles'>> = {
  poster: 'render',
  'sprites.jpg': 'render',
  'sprites.vtt': 'render',
  'hls/master.m3u8': 'transcode',
  'hls/{name}': 'transcode',
  'motion.mp4': 'render',
  // A stream of the film, under a name of its own.
  'film.mp4': 'transcode',
  'audio.m4a': 'transcode',
  'waveform.png': 'render',
  'waveform.json': 'render',
  'page-{n}': 'render',
  'text.html': 'render',
  'contents.json': 'render',
  'model.glb': 'render',
  tiles: 'tiles',
};

/** Returns whether a transcode makes the rendition with this key. */
export function isOfTranscode(key: string): boolean {
  const name = renditionNameOf(key);
  return name !== null && jobs[name] === 'transcode';
}

import { trackName } from '#lib/assets/labels.ts';
import type { ViewerItem, ViewerMedia, ViewerSource } from '#lib/viewer/item.ts';

/** A subtitle track of text. */
export interface TextTrack {
  readonly lang: string;
  readonly label: string;
  /** The address of the track as WebVTT. */
  readonly src: string;
}

/** Returns the tracks of text of a film or sound. Those of pictures, such as PGS, can be neither shown nor read. */
export function textTracks(
  source: ViewerSource,
  item: ViewerItem,
  media: Pick<ViewerMedia, 'subtitles'> | undefined,
): readonly TextTrack[] {
  const tracks =
    media?.subtitles ??
    item.asset?.subtitle_tracks.filter(
      ({ source_format: format }) => format !== 'pgs' && format !== 'vobsub',
    ) ??
    [];
  return tracks.map((track) => ({
    lang: track.lang,
    label: trackName(track),
    src: source.subtitle(item, track.lang),
  }));
}

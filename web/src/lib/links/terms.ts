import type { ShareLink, ShareLinkCreate, ShareLinkUpdate } from '@vitrine/contract/links';
import { expiryOf } from '#lib/time/expiry.ts';

/** The settings of a link in the form. `keep` leaves the current value unchanged. */
export interface LinkDraft {
  readonly label: string;
  readonly lifetime: 'keep' | '30' | '90' | 'never' | 'date';
  /** The picked day, `YYYY-MM-DD`. */
  readonly day: string;
  readonly locking: 'keep' | 'none' | 'set';
  readonly password: string;
  readonly marking: 'keep' | 'none' | 'library' | 'own';
  readonly watermark: string;
  readonly downloads: boolean;
  /** The number of the version that a link to a file shows; empty for the current one. */
  readonly version: string;
  /** The keys of the forms in which visitors download files; empty for the originals. */
  presets: string[];
  readonly feedback: boolean;
  readonly picks: boolean;
  /** The most files that a guest picks; empty for any number. */
  readonly mostPicks: string;
}

/** Returns the initial form for a new link, or for changing one. */
export function draftOf(link: ShareLink | undefined): LinkDraft {
  return {
    label: link?.label ?? '',
    lifetime: link === undefined ? '30' : 'keep',
    day: '',
    locking: link?.has_password === true ? 'keep' : 'none',
    password: '',
    marking: link === undefined || link.watermark === null ? 'none' : 'keep',
    watermark: '',
    downloads: link?.allow_download ?? false,
    version: String(link?.version ?? ''),
    presets: [...(link?.presets ?? [])],
    feedback: link?.allow_feedback ?? false,
    picks: link?.allow_picks ?? false,
    mostPicks: String(link?.max_picks ?? ''),
  };
}

/** Returns the problems of a form by field; empty if it can be sent. */
export function problemsOf(
  draft: LinkDraft,
  now: Date,
): { day?: string; password?: string; watermark?: string; mostPicks?: string } {
  const { lifetime, locking, marking } = draft;
  return {
    ...(lifetime !== 'keep' && expiryOf(lifetime, draft.day, now) === undefined
      ? { day: 'Pick a day from today on.' }
      : {}),
    ...(locking === 'set' && draft.password === '' ? { password: 'Enter a password.' } : {}),
    ...(marking === 'own' && draft.watermark.trim() === '' ? { watermark: 'Enter the text to draw.' } : {}),
    ...(draft.picks && Number.isNaN(mostPicksOf(draft) ?? 1)
      ? { mostPicks: 'Enter a whole number from 1 to 10,000.' }
      : {}),
  };
}

function watermarkOf({ marking, watermark }: LinkDraft): true | string | undefined {
  if (marking === 'library') return true;
  return marking === 'own' ? watermark.trim() : undefined;
}

/** Returns the most picks; undefined for any number, and NaN for what is none. */
function mostPicksOf({ mostPicks }: LinkDraft): number | undefined {
  const text = mostPicks.trim();
  if (text === '') return undefined;
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 10_000 ? Number(text) : Number.NaN;
}

function picksOf(before: number | undefined, draft: LinkDraft): ShareLinkUpdate {
  const most = draft.picks ? mostPicksOf(draft) : before;
  if (most === before) return {};
  return most === undefined ? { clear_max_picks: true } : { max_picks: most };
}

/** Returns the request for a new link from a valid form. */
export function creationOf(draft: LinkDraft, now: Date): ShareLinkCreate {
  const most = draft.picks ? mostPicksOf(draft) : undefined;
  return {
    label: draft.label.trim(),
    expires_at: draft.lifetime === 'keep' ? null : (expiryOf(draft.lifetime, draft.day, now) ?? null),
    password: draft.locking === 'set' ? draft.password : null,
    allow_download: draft.downloads,
    watermark: watermarkOf(draft) ?? null,
    ...(draft.version === '' ? {} : { version: Number(draft.version) }),
    ...(draft.presets.length === 0 ? {} : { presets: [...draft.presets] }),
    allow_feedback: draft.feedback,
    allow_picks: draft.picks,
    ...(most === undefined ? {} : { max_picks: most }),
  };
}

function presetsOf(before: readonly string[], after: readonly string[]): ShareLinkUpdate {
  if (before.length === after.length && before.every((key) => after.includes(key))) return {};
  return after.length === 0 ? { clear_presets: true } : { presets: [...after] };
}

/** Returns the changes of a link from a valid form. */
export function updateOf(link: ShareLink, draft: LinkDraft, now: Date): ShareLinkUpdate {
  const until = draft.lifetime === 'keep' ? undefined : expiryOf(draft.lifetime, draft.day, now);
  const mark = watermarkOf(draft);
  return {
    ...(draft.label.trim() === link.label ? {} : { label: draft.label.trim() }),
    ...(until === null && link.expires_at !== null ? { clear_expires_at: true } : {}),
    ...(until == null ? {} : { expires_at: until }),
    ...(draft.locking === 'none' && link.has_password ? { clear_password: true } : {}),
    ...(draft.locking === 'set' ? { password: draft.password } : {}),
    ...(draft.downloads === link.allow_download ? {} : { allow_download: draft.downloads }),
    ...(draft.marking === 'none' && link.watermark !== null ? { clear_watermark: true } : {}),
    ...(mark === undefined ? {} : { watermark: mark }),
    ...(draft.version === String(link.version ?? '')
      ? {}
      : draft.version === ''
        ? { clear_version: true }
        : { version: Number(draft.version) }),
    ...presetsOf(link.presets ?? [], draft.presets),
    ...(draft.feedback === link.allow_feedback ? {} : { allow_feedback: draft.feedback }),
    ...(draft.picks === link.allow_picks ? {} : { allow_picks: draft.picks }),
    ...picksOf(link.max_picks, draft),
  };
}

import { notifyFollowersJob } from './activitypub/announce-posts.ts';
import { deliverActivitiesJob } from './activitypub/deliveries.ts';
import { keepActivityPubJob } from './activitypub/keep.ts';
import { countStorageJob } from './admin/jobs/count-storage.ts';
import { releaseLogoJob } from './appearance/logo.ts';
import { renderJob } from './assets/jobs/render.ts';
import { tilesJob } from './assets/jobs/tiles.ts';
import { transcodeJob } from './assets/jobs/transcode.ts';
import { rerenderJob } from './assets/previews/rerender.ts';
import { retainAuditJob } from './audit/retention.ts';
import { ConfigError } from './config.ts';
import type { Deps } from './deps.ts';
import { backfillJob } from './extraction/backfill.ts';
import { extractJob } from './extraction/extract.ts';
import { catchUpJob } from './federation/catch-up.ts';
import { deliverJob } from './federation/delivery.ts';
import { useFieldValuesJob } from './federation/fields/use.ts';
import { fetchRenditionsJob } from './federation/files/fetch.ts';
import { fetchSubtitlesJob } from './federation/files/subtitles.ts';
import { keepFederationJob } from './federation/keep.ts';
import { verifyOffersJob } from './federation/peers/offers.ts';
import { unpairJob } from './federation/peers/unpair.ts';
import { rewriteFieldsJob } from './fields/jobs/rewrite.ts';
import type { JobHandlers } from './job-table.ts';
import { keyNamesJob } from './name-keys.ts';
import { forgetNotificationsJob } from './notifications/jobs/forget.ts';
import { mailDigestJob, mailDigestsJob, mailNotificationJob } from './notifications/jobs/mail.ts';
import { announceJob } from './notifications/jobs/notify.ts';
import { rewriteDocumentsJob } from './search-index/jobs/rewrite.ts';
import { expireJob } from './sweep/expired.ts';
import { sweepJob } from './sweep/stored-files.ts';
import { rewriteTagsJob } from './tags/jobs/rewrite.ts';
import { purgeJob, releaseBytesJob } from './trash/jobs/purge.ts';
import { encodeJob, fillVectorsJob } from './visual/jobs/encode.ts';

/** Every job has exactly one handler; the type refuses a gap. */
export function jobHandlers(deps: Deps): JobHandlers {
  return {
    render: renderJob(deps),
    tiles: tilesJob(deps),
    'render-again': rerenderJob(deps),
    transcode: transcodeJob(deps),
    sweep: sweepJob(deps),
    purge: purgeJob(deps),
    'release-bytes': releaseBytesJob(deps),
    'release-logo': releaseLogoJob(deps),
    'key-names': keyNamesJob(deps),
    expire: expireJob(deps),
    'retain-audit': retainAuditJob(deps),
    extract: extractJob(deps),
    'extract-stored': backfillJob(deps),
    encode: encodeJob(deps),
    'fill-vectors': fillVectorsJob(deps),
    announce: announceJob(deps),
    'mail-notification': mailNotificationJob(deps),
    'mail-digests': mailDigestsJob(deps),
    'mail-digest': mailDigestJob(deps),
    'forget-notifications': forgetNotificationsJob(deps),
    'count-storage': countStorageJob(deps),
    'rewrite-documents': rewriteDocumentsJob(deps),
    'rewrite-tags': rewriteTagsJob(deps),
    'rewrite-fields': rewriteFieldsJob(deps),
    deliver: deliverJob(deps),
    unpair: unpairJob(deps),
    'fetch-renditions': fetchRenditionsJob(deps),
    'fetch-subtitles': fetchSubtitlesJob(deps),
    'use-field-values': useFieldValuesJob(deps),
    'catch-up': catchUpJob(deps),
    'verify-offers': verifyOffersJob(deps),
    'keep-federation': keepFederationJob(deps),
    'tell-followers': notifyFollowersJob(deps),
    'deliver-activities': deliverActivitiesJob(deps),
    'keep-activitypub': keepActivityPubJob(deps),
  };
}

/** When recurring jobs are due, as lines of a crontab that end with the kind. */
const crontab = [
  '7 3 * * * purge',
  '17 3 * * * sweep',
  '* * * * * key-names',
  '*/5 * * * * expire',
  '*/5 * * * * keep-federation',
  '*/5 * * * * keep-activitypub',
  '47 3 * * * retain-audit',
  '*/5 * * * * fill-vectors',
  '0 * * * * mail-digests',
  '37 3 * * * forget-notifications',
  '23 */6 * * * count-storage',
];

/**
 * Returns the handlers of these kinds of jobs, or of all if null, and the recurring ones among them as a crontab. Throws
 * a ConfigError that names an unknown kind (RUN-21).
 */
export function assignedJobs(
  handlers: JobHandlers,
  kinds: readonly string[] | null,
): { handlers: Partial<JobHandlers>; crontab: string } {
  const known = Object.keys(handlers);
  const unknown = kinds?.find((kind) => !known.includes(kind));
  if (unknown !== undefined)
    throw new ConfigError(
      `VITRINE_JOBS names the unknown job ${unknown}; there are ${known.sort().join(', ')}`,
    );
  const isAssigned = (kind: string) => kinds === null || kinds.includes(kind);
  return {
    handlers: Object.fromEntries(Object.entries(handlers).filter(([kind]) => isAssigned(kind))),
    crontab: crontab.filter((line) => isAssigned(line.split(' ').at(-1) ?? '')).join('\n'),
  };
}

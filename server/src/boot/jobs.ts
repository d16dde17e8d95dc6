import type { JobName } from '@vitrine/contract/jobs';
import { fetchProfilePictureJob } from '../content/assets/jobs/profile-picture.ts';
import { renderJob } from '../content/assets/jobs/render.ts';
import { tilesJob } from '../content/assets/jobs/tiles.ts';
import { transcodeJob } from '../content/assets/jobs/transcode.ts';
import { rerenderJob } from '../content/assets/previews/rerender.ts';
import { runBatchJob } from '../content/batches/run.ts';
import { fillFingerprintsJob, fingerprintJob } from '../content/duplicates/jobs/fingerprint.ts';
import { backfillJob } from '../content/extraction/backfill.ts';
import { extractJob } from '../content/extraction/extract.ts';
import { rewriteFieldsJob } from '../content/fields/jobs/rewrite.ts';
import { publishPostJob } from '../content/posts/jobs/publish.ts';
import { remindReviewsJob } from '../content/reviews/jobs/remind.ts';
import { reopenReviewsJob } from '../content/reviews/jobs/reopen.ts';
import { rescanRootsJob, scanRootJob } from '../content/roots/jobs.ts';
import { rewriteDocumentsJob } from '../content/search-index/jobs/rewrite.ts';
import { rewriteTagsJob } from '../content/tags/jobs/rewrite.ts';
import { purgeJob, releaseBytesJob } from '../content/trash/jobs/purge.ts';
import { trimVersionsJob } from '../content/versions/keep.ts';
import { encodeJob, fillVectorsJob } from '../content/visual/jobs/encode.ts';
import { ConfigError } from '../core/config.ts';
import type { Deps } from '../core/deps.ts';
import type { JobHandlers } from '../core/job-table.ts';
import { notifyFollowersJob } from '../exchange/activitypub/announce-posts.ts';
import { deliverActivitiesJob } from '../exchange/activitypub/deliveries.ts';
import { keepActivityPubJob } from '../exchange/activitypub/keep.ts';
import { catchUpJob } from '../exchange/federation/catch-up.ts';
import { deliverJob } from '../exchange/federation/delivery.ts';
import { useFieldValuesJob } from '../exchange/federation/fields/use.ts';
import { fetchRenditionsJob } from '../exchange/federation/files/fetch.ts';
import { fetchSubtitlesJob } from '../exchange/federation/files/subtitles.ts';
import { keepFederationJob } from '../exchange/federation/keep.ts';
import { verifyOffersJob } from '../exchange/federation/peers/offers.ts';
import { unpairJob } from '../exchange/federation/peers/unpair.ts';
import { exportAccountJob } from '../operate/account-data/export-job.ts';
import { pairOf } from '../operate/accounts/batch/actions.ts';
import { releaseLogoJob } from '../operate/appearance/logo.ts';
import { expireJob } from '../operate/expire.ts';
import { writeSidecarsJob } from '../operate/roots/write-sidecars.ts';
import { countStorageJob } from '../operate/storage/count.ts';
import { sweepJob } from '../operate/storage/sweep/stored-files.ts';
import { mailLinksOfNameJob } from '../people/account-links/jobs/find.ts';
import { mailAccountLinkJob, mailAccountNoticeJob } from '../people/account-links/jobs/mail.ts';
import { retainAuditJob } from '../people/audit/retention.ts';
import { mailInvitationJob } from '../people/invitations/jobs/mail.ts';
import { forgetNotificationsJob } from '../people/notifications/jobs/forget.ts';
import { mailDigestJob, mailDigestsJob, mailNotificationJob } from '../people/notifications/jobs/mail.ts';
import { announceJob } from '../people/notifications/jobs/notify.ts';
import { sendPushJob } from '../people/push/send.ts';
import { sentence } from '../platform/language/sentence.ts';
import { keyNamesJob } from './name-keys.ts';

/** Former names of jobs. The queue of an earlier version has jobs with these names, and so may VITRINE_JOBS. */
const formerNames: Readonly<Record<string, JobName>> = { 'tell-followers': 'notify-followers' };

/** Every job has exactly one handler, also under its former names; the type refuses a gap. */
export function jobHandlers(deps: Deps): JobHandlers {
  const handlers: JobHandlers = {
    render: renderJob(deps),
    'fetch-profile-picture': fetchProfilePictureJob(deps),
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
    fingerprint: fingerprintJob(deps),
    'fill-fingerprints': fillFingerprintsJob(deps),
    announce: announceJob(deps),
    'mail-notification': mailNotificationJob(deps),
    'send-push': sendPushJob(deps),
    'mail-digests': mailDigestsJob(deps),
    'mail-digest': mailDigestJob(deps),
    'mail-invitation': mailInvitationJob(deps),
    'mail-links-of-name': mailLinksOfNameJob(deps),
    'mail-account-link': mailAccountLinkJob(deps),
    'mail-account-notice': mailAccountNoticeJob(deps),
    'forget-notifications': forgetNotificationsJob(deps),
    'count-storage': countStorageJob(deps),
    'rewrite-documents': rewriteDocumentsJob(deps),
    'rewrite-tags': rewriteTagsJob(deps),
    'rewrite-fields': rewriteFieldsJob(deps),
    'run-batch': runBatchJob(deps, pairOf),
    'publish-post': publishPostJob(deps),
    'reopen-reviews': reopenReviewsJob(deps),
    'remind-reviews': remindReviewsJob(deps),
    'trim-versions': trimVersionsJob(deps),
    'scan-root': scanRootJob(deps),
    'rescan-roots': rescanRootsJob(deps),
    'export-account': exportAccountJob(deps),
    'write-sidecars': writeSidecarsJob(deps),
    deliver: deliverJob(deps),
    unpair: unpairJob(deps),
    'fetch-renditions': fetchRenditionsJob(deps),
    'fetch-subtitles': fetchSubtitlesJob(deps),
    'use-field-values': useFieldValuesJob(deps),
    'catch-up': catchUpJob(deps),
    'verify-offers': verifyOffersJob(deps),
    'keep-federation': keepFederationJob(deps),
    'notify-followers': notifyFollowersJob(deps),
    'deliver-activities': deliverActivitiesJob(deps),
    'keep-activitypub': keepActivityPubJob(deps),
  };
  const former = Object.entries(formerNames).map(([name, current]) => [name, handlers[current]]);
  return { ...handlers, ...Object.fromEntries(former) };
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
  '*/5 * * * * remind-reviews',
  '*/5 * * * * fill-vectors',
  '41 * * * * fill-fingerprints',
  '0 * * * * mail-digests',
  '37 3 * * * forget-notifications',
  '23 */6 * * * count-storage',
  '13 * * * * rescan-roots',
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
      sentence('VITRINE_JOBS names the unknown job {job}; there are {known}', {
        job: unknown,
        known: known
          .filter((kind) => formerNames[kind] === undefined)
          .sort()
          .join(', '),
      }),
    );
  const nameOf = (kind: string) => formerNames[kind] ?? kind;
  const assigned = kinds?.map(nameOf);
  const isAssigned = (kind: string) => assigned === undefined || assigned.includes(nameOf(kind));
  return {
    handlers: Object.fromEntries(Object.entries(handlers).filter(([kind]) => isAssigned(kind))),
    crontab: crontab.filter((line) => isAssigned(line.split(' ').at(-1) ?? '')).join('\n'),
  };
}

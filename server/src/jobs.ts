import { releaseLogoJob } from './appearance/logo.ts';
import { renderJob } from './assets/jobs/render.ts';
import { sweepJob } from './assets/jobs/sweep.ts';
import { retainAuditJob } from './audit/retention.ts';
import type { Deps } from './deps.ts';
import { expireJob } from './identity/jobs/expire.ts';
import type { JobHandlers } from './platform/jobs/worker.ts';
import { rewriteDocumentsJob } from './search/jobs/rewrite.ts';
import { purgeJob, releaseBytesJob } from './trash/jobs/purge.ts';

/** Every job has exactly one handler; the type refuses a gap. */
export function jobHandlers(deps: Pick<Deps, 'db' | 'storage' | 'ladder'>): JobHandlers {
  return {
    render: renderJob(deps),
    sweep: sweepJob(deps),
    purge: purgeJob(deps),
    'release-bytes': releaseBytesJob(deps),
    'release-logo': releaseLogoJob(deps),
    expire: expireJob(deps),
    'retain-audit': retainAuditJob(deps),
    'rewrite-documents': rewriteDocumentsJob(deps),
  };
}

/** Jobs that come round by themselves. */
export const crontab = [
  '7 3 * * * purge',
  '17 3 * * * sweep',
  '*/5 * * * * expire',
  '47 3 * * * retain-audit',
].join('\n');

import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The test files that take ten seconds or more, the longest first. */
const longest: readonly string[] = [
  'server/test/access/matrix.test.ts',
  'server/test/web/new-post.test.ts',
  'server/test/platform/memory.test.ts',
  'server/test/web/selection.test.ts',
  'server/test/access/described.test.ts',
  'server/test/backup/backup.test.ts',
  'server/test/platform/processes.test.ts',
  'server/test/web/viewer.test.ts',
  'server/test/platform/embedded.test.ts',
  'server/test/platform/kill.test.ts',
  'server/test/assets/full-disk.test.ts',
  'server/test/web/collections.test.ts',
  'server/test/web/long-names.test.ts',
  'server/test/assets/kill-points.test.ts',
  'server/test/web/peers.test.ts',
  'server/test/import/import.test.ts',
  'server/test/media/reported.test.ts',
  'server/test/web/browser.test.ts',
  'server/test/media/bombs.test.ts',
  'server/test/web/whiteboards.test.ts',
  'server/test/web/versions.test.ts',
  'server/test/doctor/doctor.test.ts',
  'server/test/backup/secret-key.test.ts',
  'server/test/web/posts.test.ts',
  'server/test/storage/library.test.ts',
  'server/test/platform/schema.test.ts',
  'server/test/platform/slow-requests.test.ts',
  'server/test/corpus/corpus.test.ts',
  'server/test/web/operate.test.ts',
  'server/test/platform/jobs-lost.test.ts',
  'server/test/platform/log.test.ts',
  'server/test/web/visitors.test.ts',
  'server/test/platform/lost-database.test.ts',
  'server/test/web/teams.test.ts',
  'server/test/assets/render-again.test.ts',
  'server/test/web/set-up.test.ts',
  'server/test/media/players.test.ts',
  'server/test/web/notifications.test.ts',
  'server/test/federation/kill-steps.test.ts',
  'server/test/web/assets.test.ts',
  'server/test/platform/replica.test.ts',
  'server/test/media/transcode.test.ts',
  'server/test/web/search.test.ts',
  'server/test/access/accounts.test.ts',
  'server/test/web/field-values.test.ts',
  'server/test/posts/kept-texts.test.ts',
  'server/test/platform/embedded-role.test.ts',
  'server/test/annotations/annotations.test.ts',
  'server/test/platform/bad-input.test.ts',
  'server/test/raw-sql/raw-sql.test.ts',
  'server/test/media/metadata.test.ts',
  'server/test/search/find.test.ts',
  'server/test/assets/damage.test.ts',
  'server/test/media/decoding.test.ts',
  'server/test/federation/renditions.test.ts',
  'server/test/links/bytes.test.ts',
  'server/test/federation/sharing.test.ts',
  'server/test/search/texts.test.ts',
  'server/test/activitypub/activitypub.test.ts',
  'server/test/assets/upload.test.ts',
  'server/test/web/tags.test.ts',
  'server/test/federation/expiry.test.ts',
  'server/test/assets/hostile.test.ts',
  'server/test/search/shown-members.test.ts',
  'contract/test/openapi.test.ts',
  'server/test/federation/sensitive.test.ts',
  'server/test/deploy/commands.test.ts',
  'server/test/federation/peers.test.ts',
  'server/test/versions/versions.test.ts',
  'server/test/access/peers.test.ts',
  'server/test/backup/damage.test.ts',
  'server/test/trash/purge.test.ts',
  'server/test/corpus/mutations.test.ts',
  'server/test/secret/rotate-killed.test.ts',
  'server/test/backup/upgrade.test.ts',
  'server/test/federation/catch-up.test.ts',
  'server/test/storage/commands.test.ts',
  'server/test/extraction/fill.test.ts',
  'server/test/federation/files.test.ts',
  'server/test/web/fields.test.ts',
  'server/test/media/text.test.ts',
  'server/test/search/leaks.test.ts',
  'server/test/media/video.test.ts',
  'server/test/media/model-spellings.test.ts',
  'server/test/annotations/exports.test.ts',
  'server/test/media/sound-frames.test.ts',
];

const root = join(import.meta.dirname, '../../..');

const rankOf = new Map(longest.map((file, rank) => [join(root, file), rank]));

/**
 * Starts long test files first, so that the last ones to end are short and no core waits for a single one. Vitest does so
 * with the durations of an earlier run, which a fresh clone does not have; otherwise it sorts files by size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => rankOf.get(moduleId) ?? longest.length;
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

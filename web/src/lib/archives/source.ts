import type { ArchiveCreate } from '@vitrine/contract/archives';
import type { Target } from '#lib/batches/targets.ts';
import type { Service } from '#lib/service.ts';

/** The most posts whose files are packed together: each is read for the ids of its files. */
const mostPosts = 100;
/** How many posts are read at the same time. */
const atOnce = 10;

/** What an archive packs, or a function that reads it. */
export type ArchiveSource = ArchiveCreate | (() => Promise<ArchiveCreate>);

/** Returns the ids of the files of posts. */
async function filesOf({ client }: Service, posts: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (let at = 0; at < posts.length; at += atOnce) {
    const reads = posts.slice(at, at + atOnce).map((id) => client.call('getPost', { params: { id } }));
    for (const { members } of await Promise.all(reads))
      files.push(...members.map(({ asset_id }) => asset_id));
  }
  return files;
}

/** Returns the files of targets, together with those of chosen posts; undefined for posts that a query selects. */
export function archiveSourceOf(service: Service, targets: readonly Target[]): ArchiveSource | undefined {
  const [only, ...others] = targets;
  if (only?.subject === 'asset' && others.length === 0)
    return 'ids' in only ? { ids: [...only.ids] } : { query: only.query };
  const named = targets.filter((target) => 'ids' in target);
  const posts = named.filter(({ subject }) => subject === 'post').flatMap(({ ids }) => ids);
  if (named.length < targets.length || posts.length === 0 || posts.length > mostPosts) return undefined;
  const files = named.filter(({ subject }) => subject === 'asset').flatMap(({ ids }) => ids);
  const [post] = posts;
  if (post !== undefined && posts.length === 1 && files.length === 0) return { post_id: post };
  return async () => ({ ids: [...new Set([...files, ...(await filesOf(service, posts))])] });
}

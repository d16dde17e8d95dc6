import type { Notification } from '@vitrine/contract/notifications';
import type { Post, PostCreate } from '@vitrine/contract/posts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

/** An account that publishes posts of one asset. */
export function publisher(author: Account) {
  let asset: Promise<{ id: string }> | null = null;
  return async (body: Omit<PostCreate, 'members'> = {}): Promise<Post> => {
    asset ??= upload(author, plainFile(), {}, 'words.txt');
    return publish(author, [await asset], body);
  };
}

export function comment(by: Visitor, post: { id: string }, body = 'a word', parent_id?: string) {
  return by.ok('createComment', {
    params: { id: post.id },
    body: parent_id === undefined ? { body } : { body, parent_id },
  });
}

/** Runs all due jobs, and the jobs that they enqueue. */
export const settle = (library: Library): Promise<void> => library.runJobs();

/** Runs all jobs and returns the notifications of an account, newest first. */
export async function told(library: Library, account: Visitor): Promise<Notification[]> {
  await settle(library);
  return (await account.ok('listNotifications', { query: {} })).items;
}

/** Runs all jobs and returns the notifications as text: kind, actor, target. */
export async function news(library: Library, account: Visitor): Promise<string[]> {
  return (await told(library, account)).map(
    ({ kind, actor, post, request }) =>
      `${kind} ${actor?.username ?? '-'} ${post?.title ?? request?.target_kind ?? '-'}`,
  );
}

export async function unread(account: Visitor): Promise<number> {
  return (await account.ok('getUnreadCount')).count;
}

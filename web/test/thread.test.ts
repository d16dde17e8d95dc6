import type { CommentRoot } from '@vitrine/contract/comments';
import { describe, expect, it } from 'vitest';
import { mayChange, mayRemove, mayWrite } from '#lib/comments/rights.ts';
import {
  changedInThread,
  type Replies,
  shownReplies,
  type Thread,
  withoutInThread,
  withReply,
  withReplyBelow,
  withRoot,
} from '#lib/comments/thread.ts';
import { dependsOnTeam, mayEdit } from '#lib/posts/rights.ts';
import { commentOf, userOf } from './samples.ts';

const root = (id: string, replies: string[], reply_count = replies.length): CommentRoot => ({
  ...commentOf(id, { reply_count }),
  replies: replies.map((one) => commentOf(one, { parent_id: id })),
});
const threadOf = (...roots: CommentRoot[]): Thread => ({
  pages: [{ items: roots, next_cursor: null }],
  pageParams: [''],
});
const rootsOf = (thread: Thread) => thread.pages.flatMap((page) => page.items);

describe('a thread', () => {
  it('adds a new comment at the top, once', () => {
    const after = withRoot(withRoot(threadOf(root('old', [])), commentOf('new')), commentOf('new'));
    expect(rootsOf(after).map((one) => one.id)).toEqual(['new', 'old']);
  });

  it('shows a reply if all earlier ones are loaded, and otherwise counts it', () => {
    const reply = commentOf('r', { parent_id: 'a' });
    const [whole] = rootsOf(withReplyBelow(threadOf(root('a', ['x'])), reply));
    expect(whole).toMatchObject({ reply_count: 2, replies: [{ id: 'x' }, { id: 'r' }] });
    const [part] = rootsOf(withReplyBelow(threadOf(root('a', ['x'], 30)), reply));
    expect(part).toMatchObject({ reply_count: 31, replies: [{ id: 'x' }] });
  });

  it('changes only the edited comment or reply', () => {
    const after = changedInThread(threadOf(root('a', ['x', 'y'])), 'y', { liked: true, like_count: 1 });
    expect(rootsOf(after)[0]?.replies.map((one) => one.liked)).toEqual([false, true]);
    expect(rootsOf(after)[0]?.liked).toBe(false);
  });

  it('removes a reply and its count, and a comment with its replies', () => {
    const thread = threadOf(root('a', ['x', 'y']), root('b', []));
    const without = withoutInThread(thread, commentOf('x', { parent_id: 'a' }));
    expect(rootsOf(without)[0]).toMatchObject({ reply_count: 1, replies: [{ id: 'y' }] });
    expect(rootsOf(withoutInThread(thread, root('a', ['x', 'y']))).map((one) => one.id)).toEqual(['b']);
  });
});

describe('replies as they are shown', () => {
  const read = (...ids: string[]) => ids.map((id) => commentOf(id, { parent_id: 'a' }));

  it('are the first, a gap and the latest, without duplicates', () => {
    const shown = shownReplies(root('a', ['1', '2'], 6), read('6', '5'));
    expect(shown.latest.map((one) => one.id)).toEqual(['5', '6']);
    expect(shown.between).toBe(2);
    const all = shownReplies(root('a', ['1', '2'], 6), read('6', '5', '4', '3', '2', '1'));
    expect(all.latest.map((one) => one.id)).toEqual(['3', '4', '5', '6']);
    expect(all.between).toBe(0);
  });

  it('take a new one as the latest', () => {
    const replies: Replies = { pages: [{ items: read('6'), next_cursor: 'c' }], pageParams: [''] };
    const [page] = withReply(replies, commentOf('7', { parent_id: 'a' })).pages;
    expect(page?.items.map((one) => one.id)).toEqual(['7', '6']);
  });
});

describe('what is offered below a post', () => {
  const signedIn = userOf({ ref: 2, username: 'ben', capabilities: ['posts.comment'] });
  const open = { comments_enabled: true, draft: false };

  it('is a comment form, or the reason why there is none', () => {
    expect(mayWrite(open, signedIn)).toBe('yes');
    expect(mayWrite(open, null)).toBe('sign in');
    expect(mayWrite({ ...open, comments_enabled: false }, null)).toBe('off');
    expect(mayWrite({ ...open, draft: true }, signedIn)).toBe('draft');
    expect(mayWrite(open, { ...signedIn, capabilities: [] })).toBe('not allowed');
    expect(mayWrite(open, { ...signedIn, capabilities_status: 'unavailable' })).toBe('not known');
  });

  it('is editing for the writer, and deletion for the writer and the post’s author', () => {
    const mine = commentOf('m', { author: { ref: 2, username: 'ben', display_name: 'Ben' } });
    const theirs = commentOf('t', { author: { ref: 3, username: 'cid', display_name: 'Cid' } });
    const nameless = commentOf('n');
    expect([mine, theirs, nameless].map((one) => mayChange(one, signedIn))).toEqual([true, false, false]);
    const post = { author_user_ref: 9 };
    expect([mine, theirs].map((one) => mayRemove(one, post, signedIn))).toEqual([true, false]);
    expect(mayRemove(nameless, { author_user_ref: 2 }, signedIn)).toBe(true);
    expect(mayRemove(mine, post, null)).toBe(false);
  });

  it('is deletion for people who administer posts of its team only', () => {
    const theirs = commentOf('t', { author: { ref: 3, username: 'cid', display_name: 'Cid' } });
    const held = [{ capability: 'posts.admin', team_ids: ['a', 'b'] }];
    const of = (team_id?: string) => ({ author_user_ref: 9, ...(team_id === undefined ? {} : { team_id }) });
    const removable = [of('a'), of('b'), of('c'), of()].map((post) =>
      mayRemove(theirs, post, signedIn, held),
    );
    expect(removable).toEqual([true, true, false, false]);
    expect(mayEdit(of('a'), signedIn)).toBe(false);
    expect(mayEdit(of('a'), null, held)).toBe(false);
    expect(mayEdit(of('a'), { ...signedIn, capabilities_status: 'unavailable' }, held)).toBe(false);
    expect([of('a'), of()].map((post) => dependsOnTeam(post, signedIn))).toEqual([true, false]);
    expect(dependsOnTeam({ ...of('a'), author_user_ref: signedIn.ref }, signedIn)).toBe(false);
  });
});

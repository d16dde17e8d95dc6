import type { Post } from '@vitrine/contract/posts';
import type { Review } from '@vitrine/contract/reviews';
import { type Account, formOf, openLibrary, publish, upload } from '../support/library.ts';
import { png } from '../support/pictures.ts';

let seed = 100;
export const picture = async () => {
  seed += 1;
  return png(40, 30, seed);
};

export const read = (who: Account, { id }: { id: string }) => who.ok('getReview', { params: { id } });
export const decide = (who: Account, { id }: { id: string }, body = {}) =>
  who.ok('decideReview', { params: { id }, body: { decision: 'approved', ...body } });
export const queue = async (who: Account, state: 'waiting_for_me' | 'waiting_for_others' | 'done') =>
  (await who.ok('listMyReviews', { query: { state } })).items.map(({ id }) => id);

interface Asked {
  review: Review;
  post: Post;
  assets: string[];
}

/** Opens a library in which mara asks for reviews. */
export async function openReviews() {
  const library = await openLibrary();
  const root = await library.join('root', 'admin');
  const [mara, bob, eve, stranger] = await library.joinAll('mara', 'bob', 'eve', 'stranger');

  /** A draft of new files, under review. */
  async function ask(reviewers: Account[], { files = 1, body = {}, post = {} } = {}): Promise<Asked> {
    const uploaded = [];
    for (let n = 0; n < files; n++)
      uploaded.push(await upload(mara, await picture(), { sensitivity: 'posts' }, 'a.png'));
    await library.runJobs();
    const draft = await publish(mara, uploaded, { draft: true, title: 'Harbour', ...post });
    const review = await mara.ok('requestReview', {
      params: { id: draft.id },
      body: { reviewers: reviewers.map(({ ref }) => ref), ...body },
    });
    return { review, post: draft, assets: uploaded.map(({ id }) => id) };
  }

  const addVersion = async (id: string) =>
    mara.ok('addAssetVersion', { params: { id }, body: formOf(await picture(), {}, 'b.png') });

  return { library, root, mara, bob, eve, stranger, ask, addVersion };
}

import { listen } from '../../notifications/streams.ts';
import {
  type Annotated,
  assignee,
  discusses,
  type Note,
  readsNote,
  resolvesNote,
  seesMember,
} from '../annotated-world.ts';
import { must } from '../cells.ts';
import { type AssetCell, isDisclosed, type PostCell, readsPost, type Switches } from '../due.ts';
import { type CallerKind, commentAuthor } from '../matrix.ts';
import {
  ask,
  changing,
  commentDoor,
  labelOfAsset,
  labelOfPost,
  type Probe,
  probe,
  readDoor,
  refusalOf,
} from '../send-requests.ts';
import { asksAll, type Matrix, seedOf, usual } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Annotations in threads and counts, what each caller may do with them, and the events of their posts. */

const labelOfNote = ({ state, post, asset, isMember }: Note) =>
  `${state} annotation of ${isMember ? 'the' : 'a former'} member ${labelOfAsset(asset)} in ${labelOfPost(post)}`;

interface Narrowed {
  query: string;
  /** Whether comments that are no annotations are listed. */
  isPlain: boolean;
  has: (who: CallerKind, note: Note) => boolean;
}

function narrowed({ world }: Matrix, post: PostCell): Narrowed[] {
  const file = post.members.at(-1)?.id ?? post.id;
  return [
    { query: '', isPlain: true, has: () => true },
    { query: '&annotated=false', isPlain: true, has: () => false },
    { query: '&resolved=true', isPlain: false, has: (_, { state }) => state === 'resolved' },
    { query: `&asset_id=${file}`, isPlain: false, has: (_, { asset }) => asset.id === file },
    {
      query: `&annotated=true&assignee=${world.refOf(assignee)}`,
      isPlain: false,
      has: (_, { state }) => state === 'open',
    },
    {
      // A filter reveals no author whose identity is withheld (ANNOTATION-7).
      query: `&annotated=true&author_ref=${world.refs.hidden}`,
      isPlain: false,
      has: (who, { state }) => state === 'resolved' && isDisclosed(who, 'hidden'),
    },
  ];
}

const inOrder = (lines: readonly string[]) => lines.toSorted().join(' ');

async function lookAtList(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  { post, query, isPlain, has }: Narrowed & { post: PostCell },
  switches: Switches,
) {
  const who = caller.kind;
  const { status, text } = await caller.visitor.send(`/posts/${post.id}/comments?limit=200${query}`);
  const label = `${caller.name}: comments${query}: ${labelOfPost(post)}`;
  const due = refusalOf(caller, readDoor, switches) ?? (discusses(annotated, who, post) ? 200 : 404);
  matrix.ledger.hold(label, status, due);
  if (status !== 200) return;
  const { items }: { items: { id: string; replies: { id: string }[] }[] } = JSON.parse(text);
  const seen = items.map(({ id, replies }) => [id, ...replies.map((reply) => reply.id)].join('>'));
  const notes = annotated.notes.filter(
    (note) => note.post.id === post.id && has(who, note) && readsNote(annotated, who, note),
  );
  const { thread } = post;
  // Reviewers of a draft read its annotations, and no other comments.
  const plain = thread === null || !isPlain || !readsPost(who, post) ? [] : thread.roots;
  const expected = [
    ...notes.map(({ id, reply, state }) => (state === 'open' ? `${id}>${reply}` : id)),
    ...plain.map((id) => (id === thread?.byCommenter ? `${id}>${thread.reply}` : id)),
  ];
  matrix.ledger.hold(`${label}: which`, inOrder(seen), inOrder(expected));
}

/** ANNOTATION-6: the counts of the post, which leave out what the caller does not read. */
async function lookAtCounts(matrix: Matrix, annotated: Annotated, caller: Caller, post: PostCell) {
  const who = caller.kind;
  const { status, text } = await caller.visitor.send(`/posts/${post.id}`);
  if (status !== 200) return;
  const seen: {
    annotation_counts: { asset_id: string; open: number; resolved: number }[];
    comment_count: number;
  } = JSON.parse(text);
  const counts = seen.annotation_counts.map((one) => `${one.asset_id}:${one.open}:${one.resolved}`);
  // Each member has an open annotation and a resolved one.
  const members = post.members.filter((asset) => seesMember(annotated, who, asset));
  const label = `${caller.name}: counts: ${labelOfPost(post)}`;
  matrix.ledger.hold(`${label}: files`, inOrder(counts), inOrder(members.map(({ id }) => `${id}:1:1`)));
  matrix.ledger.hold(`${label}: comments`, seen.comment_count, post.thread?.count ?? 0);
}

/** ANNOTATION-5, ANNOTATION-7: the thread and the counts of a post. Filters alternate. */
export async function lookAtAnnotations(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  post: PostCell,
  switches: Switches,
) {
  const turn = seedOf(caller) + annotated.posts.indexOf(post);
  for (const [index, one] of narrowed(matrix, post).entries())
    if (asksAll || index === 0 || index === 1 + (turn % 5))
      await lookAtList(matrix, annotated, caller, { post, ...one }, switches);
  await lookAtCounts(matrix, annotated, caller, post);
}

/** Every operation on an annotation that changes nothing that another cell reads. */
function noteProbes({ world }: Matrix, annotated: Annotated): Probe<Note>[] {
  const at = (path: string) => (note: Note) => `/comments/${note.id}${path}`;
  const reads = (who: CallerKind, note: Note) => readsNote(annotated, who, note);
  const reading = (who: CallerKind, note: Note) => (reads(who, note) ? 200 : 404);
  const resolving = (who: CallerKind, note: Note) =>
    changing(reads(who, note), resolvesNote(annotated, who, note), 200);
  const writes = (who: CallerKind, note: Note) => note.state === 'open' && who === commentAuthor;
  const isOpen = ({ state }: Note) => state === 'open';
  return [
    probe(readDoor, 'GET', at('/replies'), reading),
    probe(commentDoor, 'POST', at('/resolve'), (who, note) => (isOpen(note) ? null : resolving(who, note))),
    probe(commentDoor, 'DELETE', at('/resolve'), (who, note) => (isOpen(note) ? resolving(who, note) : null)),
    // ANNOTATION-9: an assignment reveals nothing to the assignee, and nothing about them.
    probe(
      commentDoor,
      'PUT',
      at('/assignee'),
      (who, note) => {
        const due = resolving(who, note);
        return due !== 200 || !isOpen(note) || reads(assignee, note) ? due : 404;
      },
      { bodyOf: (note) => ({ user_ref: isOpen(note) ? world.refOf(assignee) : null }) },
    ),
    probe(
      commentDoor,
      'PATCH',
      at(''),
      (who, note) => changing(reads(who, note), reads(who, note) && writes(who, note), 200),
      { body: {} },
    ),
    probe(commentDoor, 'DELETE', at('/like'), reading),
    probe(
      commentDoor,
      'DELETE',
      ({ reply }) => `/comments/${reply}/like`,
      (who, note) => (isOpen(note) ? reading(who, note) : 404),
    ),
  ];
}

/** Asks one of these operations about an annotation, another for each caller. */
export async function tryOnNote(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  note: Note,
  switches: Switches,
) {
  const turn = seedOf(caller) + annotated.notes.indexOf(note);
  const probes = noteProbes(matrix, annotated);
  for (const [index, one] of probes.entries())
    if (asksAll || index === turn % probes.length)
      await ask(matrix, caller, one, note, labelOfNote(note), switches);
}

/** ANNOTATION-1: annotates each member of a post, and a file that is none. */
export async function tryToAnnotate(matrix: Matrix, annotated: Annotated, caller: Caller, post: PostCell) {
  const stray = must(
    matrix.world.assets.find(({ id }) => post.members.every((member) => member.id !== id)),
    'file of another post',
  );
  const isMember = (asset: AssetCell) => asset !== stray;
  const annotating = probe<AssetCell>(
    commentDoor,
    'POST',
    () => `/posts/${post.id}/annotations`,
    (who, asset) =>
      isMember(asset) && discusses(annotated, who, post) && seesMember(annotated, who, asset) ? 201 : 404,
    { bodyOf: ({ id }) => ({ asset_id: id, anchor: { kind: 'point', x: 0, y: 0 }, body: 'made' }) },
  );
  for (const asset of [...post.members, stray]) {
    const label = `${isMember(asset) ? labelOfAsset(asset) : 'a stray file'} in ${labelOfPost(post)}`;
    await ask(matrix, caller, annotating, asset, label, usual);
  }
}

/** ANNOTATION-10: the events of a post are for those who read its annotations. */
export async function lookAtStreams(
  matrix: Matrix,
  annotated: Annotated,
  caller: Caller,
  posts: readonly PostCell[],
) {
  const following = probe<PostCell>(
    readDoor,
    'GET',
    ({ id }) => `/events?post=${id}`,
    (who, post) => (discusses(annotated, who, post) ? 200 : 404),
  );
  // One after the other, because an account has few streams.
  for (const post of posts) await ask(matrix, caller, following, post, labelOfPost(post), usual);
}

/** ANNOTATION-10: viewers of the post receive an annotation if they may see its file. */
export async function listenToAnnotations(
  matrix: Matrix,
  annotated: Annotated,
  callers: readonly Caller[],
  { post, first, last }: { post: PostCell; first: AssetCell; last: AssetCell },
) {
  const { library, callers: all } = matrix.world;
  const { visitor } = must(all.get('system.admin'), 'administrator');
  const annotate = async ({ id: asset_id }: AssetCell) => {
    const body = { asset_id, anchor: { kind: 'point', x: 0, y: 0 } as const, body: 'said' };
    const made = await visitor.ok('createAnnotation', { params: { id: post.id }, body });
    return made.id;
  };
  const listening = await Promise.all(
    callers.map(async (caller) => ({
      caller,
      stream: await listen(library.address, { cookie: caller.visitor }, post.id),
    })),
  );
  const [hidden, shown] = [await annotate(first), await annotate(last)];
  for (const { caller, stream } of listening) {
    const who = caller.kind;
    const label = (asset: AssetCell) => `${caller.name}: event about ${labelOfAsset(asset)}`;
    // Everyone receives the last one, which is sent after the first.
    matrix.ledger.hold(label(last), seesMember(annotated, who, last), true);
    await stream.heard<{ id: string }>('comment', ({ id }) => id === shown);
    matrix.ledger.hold(label(first), stream.text().includes(hidden), seesMember(annotated, who, first));
    stream.close();
  }
}

import { clip } from '../../../server/test/media/clips.ts';
import { admin, callJson, createAccount, type EmptyLibrary, signIn, uploadFile } from '../empty-library.ts';
import { joinDatabase } from '../library.ts';
import { photograph } from '../picture.ts';

type Pool = ReturnType<typeof joinDatabase>['pool'];

/** An account that is signed in. */
export interface Account {
  ref: number;
  cookie: string;
}

/** A post with one file, and the number of annotations of it. */
export interface AnnotatedPost {
  id: string;
  asset: string;
  annotations: number;
}

/** The accounts, posts and review that the bench measures. */
export interface Scene {
  base: string;
  author: Account;
  reviewer: Account;
  picture: { without: AnnotatedPost; few: AnnotatedPost; some: AnnotatedPost; many: AnnotatedPost };
  film: { without: AnnotatedPost; some: AnnotatedPost };
  /** A draft under review, in which the reviewer has not decided. */
  review: { id: string; post: string };
}

const FILM = { seconds: 12, rate: { num: 60, den: 1 } };

async function accountOf(base: string, cookie: string): Promise<Account> {
  const { ref }: { ref: number } = await callJson(base, cookie, '/auth/me');
  return { ref, cookie };
}

/** Draws a picture of 6 megapixels. */
async function drawPicture(): Promise<Blob> {
  return new Blob([new Uint8Array(await photograph(3000, 2000, 11))], { type: 'image/jpeg' });
}

/** Encodes a film with 60 frames a second, in a format that every Chromium plays. */
async function drawFilm(): Promise<Blob> {
  const { num, den } = FILM.rate;
  const source = `testsrc2=s=640x360:r=${num}/${den}`;
  const options = { deadline: 'realtime', 'cpu-used': '8', g: '60' };
  const video = { source, encoder: 'libvpx-vp9', rate: FILM.rate, options };
  const bytes = await clip({ format: 'mp4', video, seconds: FILM.seconds });
  return new Blob([bytes], { type: 'video/mp4' });
}

/** Areas that are spread over the picture, or over the frames of the film. */
const anchors = {
  picture: `jsonb_build_object('kind', 'region', 'x', (n * 37 % 90) / 100.0, 'y', (n * 53 % 90) / 100.0, 'w', 0.05, 'h', 0.05)`,
  film: `jsonb_build_object('kind', 'time', 'start', n * ${FILM.seconds - 1} / 500.0, 'end', n * ${FILM.seconds - 1} / 500.0 + 0.3,
    'x', (n * 37 % 90) / 100.0, 'y', (n * 53 % 90) / 100.0, 'w', 0.05, 'h', 0.05)`,
} as const;

/** Adds annotations, written one second after the other. */
async function annotate(
  pool: Pool,
  author: Account,
  { id, asset, annotations }: AnnotatedPost,
  kind: keyof typeof anchors,
): Promise<void> {
  await pool.query(
    `with made as (
       insert into comments (post_id, annotated_asset_id, author_user_ref, body, created_at)
       select $1, $2, $3, 'The edge is soft here, number ' || n, now() - ($4::integer - n) * interval '1 second'
       from generate_series(1, $4::integer) n returning id, created_at)
     insert into annotations (comment_id, version, anchor)
     select id, 1, ${anchors[kind]} from (select id, row_number() over (order by created_at) as n from made) x`,
    [id, asset, author.ref, annotations],
  );
}

/** Waits until no job is due, so that jobs do not influence the measurements. */
async function untilIdle(pool: Pool): Promise<void> {
  for (let left = 1; left > 0; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { rows } = await pool.query<{ n: string }>(
      'select count(*) as n from graphile_worker.jobs where run_at <= now()',
    );
    left = Number(rows[0]?.n ?? 0);
  }
}

/** Fills a library with posts of a picture and of a film, and asks for a review of a draft. */
export async function fillLibrary({ service, directory }: EmptyLibrary): Promise<Scene> {
  const base = service.address;
  const author = await accountOf(base, await signIn(base, admin));
  const ben = { username: 'ben', password: 'another password for the bench' };
  await createAccount(base, author.cookie, ben);
  const reviewer = await accountOf(base, await signIn(base, ben));
  const fields = { sensitivity: 'posts' };
  const picture = await uploadFile(base, author.cookie, await drawPicture(), 'picture.jpg', fields);
  const film = await uploadFile(base, author.cookie, await drawFilm(), 'film.mp4', fields);
  const database = joinDatabase(directory);
  try {
    await untilIdle(database.pool);
    const publish = (asset_id: string, given: object): Promise<{ id: string }> =>
      callJson(base, author.cookie, '/posts', { members: [{ asset_id }], ...given });
    const withAnnotations = async (kind: keyof typeof anchors, asset: string, annotations: number) => {
      const { id } = await publish(asset, { title: `A ${kind} with ${annotations}` });
      const post = { id, asset, annotations };
      await annotate(database.pool, author, post, kind);
      return post;
    };
    const draft = await publish(picture, { title: 'A draft', draft: true });
    const asked = { reviewers: [reviewer.ref] };
    const review: { id: string } = await callJson(base, author.cookie, `/posts/${draft.id}/reviews`, asked);
    const scene = {
      base,
      author,
      reviewer,
      picture: {
        without: await withAnnotations('picture', picture, 0),
        few: await withAnnotations('picture', picture, 50),
        some: await withAnnotations('picture', picture, 500),
        many: await withAnnotations('picture', picture, 5000),
      },
      film: {
        without: await withAnnotations('film', film, 0),
        some: await withAnnotations('film', film, 500),
      },
      review: { id: review.id, post: draft.id },
    };
    await database.pool.query('vacuum analyze comments, annotations, posts');
    await untilIdle(database.pool);
    return scene;
  } finally {
    await database.close();
  }
}

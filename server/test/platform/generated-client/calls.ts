import createClient from 'openapi-fetch';
// Generated from the document when the test runs; see generated-client.test.ts.
import type { components, paths } from './paths.ts';

export interface Outcome {
  username: string;
  asset: components['schemas']['ShownAsset'];
  post: components['schemas']['Post'];
  /** Titles of the posts in the feed. */
  titles: string[];
  missing: { status: number; error: string | undefined };
  refused: { status: number; error: string | undefined };
}

/** A small client: signs in, uploads a file, posts it, reads the feed and makes two mistakes. */
export async function run(baseUrl: string, username: string, password: string): Promise<Outcome> {
  let cookie = '';
  const client = createClient<paths>({ baseUrl });
  client.use({
    onRequest({ request }) {
      if (cookie !== '') request.headers.set('cookie', cookie);
      return request;
    },
    onResponse({ response }) {
      cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    },
  });

  const signedIn = await client.POST('/auth/login', { body: { username, password } });
  if (signedIn.data === undefined) throw new Error(signedIn.error.error);

  const uploaded = await client.POST('/assets', {
    body: { title: 'Harbour at dawn', tags: ['harbour'] },
    bodySerializer({ title }) {
      const form = new FormData();
      form.append('title', title ?? '');
      form.append('file', new Blob(['a file']), 'harbour.bin');
      return form;
    },
  });
  if (uploaded.data === undefined) throw new Error(uploaded.error.error);

  const posted = await client.POST('/posts', {
    body: { members: [{ asset_id: uploaded.data.id }], title: 'Harbour', visibility: 'org-only' },
  });
  if (posted.data === undefined) throw new Error(posted.error.error);

  const feed = await client.GET('/posts', { params: { query: { limit: 10, sort: 'newest' } } });
  if (feed.data === undefined) throw new Error(feed.error.error);

  const missing = await client.GET('/posts/{id}', {
    params: { path: { id: '00000000-0000-4000-8000-000000000000' } },
  });
  const refused = await client.GET('/posts', { params: { query: { limit: 1000 } } });
  return {
    username: signedIn.data.username,
    asset: uploaded.data,
    post: posted.data,
    titles: feed.data.items.map(({ title }) => title),
    missing: { status: missing.response.status, error: missing.error?.error },
    refused: { status: refused.response.status, error: refused.error?.error },
  };
}

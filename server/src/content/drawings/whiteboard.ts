import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stroke } from '@vitrine/contract/strokes';
import { getWhiteboardPng, getWhiteboardSvg } from '@vitrine/contract/whiteboards';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { readablePosts } from '../../access/posts.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { DecodingStopped } from '../../media/decoding/process.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';

/** Answers with a whiteboard of a post that the caller reads; its letters are laid out in a decoder process (BOARD-11). */
async function answerWith(deps: Deps, caller: Caller, id: string, form: 'svg' | 'png') {
  const { rows } = await sql<{
    strokes: Stroke[];
  }>`select w.strokes from whiteboards w join posts p on p.id = w.post_id
    where w.id = ${id} and ${readablePosts(caller)}`.execute(deps.db);
  const [board] = rows;
  if (board === undefined) throw notFound();
  const to = join(deps.storage.incomingDir, `board-${randomUUID()}`);
  const turn = caller.kind === 'user' ? String(caller.ref) : caller.kind;
  try {
    await deps.decoders.run('flatten', turn, 'whiteboard', { strokes: board.strokes, form, to });
    const body = await readFile(to);
    const headers = {
      'content-type': form === 'svg' ? 'image/svg+xml' : 'image/png',
      'content-length': String(body.length),
      'content-disposition': `attachment; filename="whiteboard.${form}"`,
      'cache-control': 'private, no-cache',
      'content-security-policy': sandboxPolicy,
    };
    return { status: 200 as const, body, headers };
  } catch (error) {
    if (error instanceof DecodingStopped)
      throw refuse('picture-decoding-stopped', { reason: error.sentence });
    throw error;
  } finally {
    await rm(to, { force: true });
  }
}

export const asSvg = handle(getWhiteboardSvg, (deps, { caller, params }) =>
  answerWith(deps, caller, params.id, 'svg'),
);

export const asPng = handle(getWhiteboardPng, (deps, { caller, params }) =>
  answerWith(deps, caller, params.id, 'png'),
);

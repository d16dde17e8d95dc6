import { Readable } from 'node:stream';
import {
  type ExportRate,
  exportAnnotatedPdf,
  exportAssetAnnotations,
  exportAssetSheet,
  exportEdl,
  exportFcpxml,
  exportOtio,
  exportPostAnnotations,
  exportPostSheet,
} from '@vitrine/contract/annotation-exports';
import type { Anchor } from '@vitrine/contract/annotations';
import type { Language } from '@vitrine/contract/languages';
import type { MediaFacts } from '@vitrine/contract/media';
import { sql } from 'kysely';
import { checkDiscussed } from '../../../access/annotations.ts';
import { shownAssets } from '../../../access/assets.ts';
import type { Caller } from '../../../access/caller.ts';
import type { Deps } from '../../../core/deps.ts';
import { handle } from '../../../core/handle.ts';
import { readerLanguage } from '../../../core/reader-language.ts';
import { previewKind } from '../../../media/renderable.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { say } from '../../../platform/language/say.ts';
import { writeAnnotatedPdf } from './annotated-pdf.ts';
import { type Exported, readDrawings, readExported } from './read.ts';
import { writeSheet } from './sheet.ts';
import { writeTable } from './table.ts';
import { countingOf } from './timecode.ts';
import { timelineOf, writeEdl, writeFcpxml, writeOtio } from './timelines.ts';

/** The answer with an export, which browsers store under this name. */
function file(content: string | Readable, type: string, extension: string, name = 'annotations') {
  return {
    status: 200 as const,
    body: typeof content === 'string' ? Readable.from([Buffer.from(content)]) : content,
    headers: {
      'content-type': typeof content === 'string' ? `${type}; charset=utf-8` : type,
      'content-disposition': `attachment; filename="${name}.${extension}"`,
      'cache-control': 'no-store',
    },
  };
}

interface ExportedFile {
  title: string;
  facts: MediaFacts;
  mime: string;
}

/** Returns an asset whose columns the caller is shown, or throws 404. */
async function readFile(db: Database, caller: Caller, id: string): Promise<ExportedFile> {
  const { rows } = await sql<ExportedFile>`
    select coalesce(nullif(a.title, ''), a.file_name) as title, f.media as facts, f.mime
    from assets a join files f on f.hash = a.file_hash where a.id = ${id} and ${shownAssets(caller)}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw notFound();
  return row;
}

/** Returns where in a film or a document an anchor is, for sorting. */
function positionOf(anchor: Anchor): number {
  if (anchor.kind === 'time') return anchor.start;
  return anchor.kind === 'page' ? anchor.page : 0;
}

export const ofPost = handle(exportPostAnnotations, async ({ db }, { caller, params, query }) => {
  await checkDiscussed(db, caller, params.id);
  const annotations = await readExported(db, caller, { post: params.id });
  return file(await writeTable(annotations, query.rate), 'text/csv', 'csv');
});

export const ofAsset = handle(exportAssetAnnotations, async ({ db }, { caller, params, query }) => {
  await readFile(db, caller, params.id);
  const annotations = await readExported(db, caller, { asset: params.id });
  annotations.sort((a, b) => positionOf(a.anchor) - positionOf(b.anchor));
  return file(await writeTable(annotations, query.rate), 'text/csv', 'csv');
});

/** Returns the markers of a film or sound; throws 409 for other files. */
async function readTimeline(db: Database, caller: Caller, id: string, rate: ExportRate | undefined) {
  const { title, facts, mime } = await readFile(db, caller, id);
  if (previewKind(mime) !== 'video' && !mime.startsWith('audio/')) throw refuse('file-without-timeline');
  const annotations = await readExported(db, caller, { asset: id });
  return timelineOf(title, facts, countingOf(facts, rate), annotations);
}

export const edl = handle(exportEdl, async ({ db }, { caller, params, query }) =>
  file(writeEdl(await readTimeline(db, caller, params.id, query.rate)), 'text/plain', 'edl'),
);

export const otio = handle(exportOtio, async ({ db }, { caller, params, query }) =>
  file(writeOtio(await readTimeline(db, caller, params.id, query.rate)), 'application/json', 'otio'),
);

export const fcpxml = handle(exportFcpxml, async ({ db }, { caller, params, query }) =>
  file(writeFcpxml(await readTimeline(db, caller, params.id, query.rate)), 'application/xml', 'fcpxml'),
);

/** Most annotations of a contact sheet. */
const MOST_ON_SHEET = 500;

/** Answers with a contact sheet. */
async function sheet(deps: Deps, caller: Caller, language: Language, title: string, of: Exported) {
  const annotations = (await readExported(deps.db, caller, of)).slice(0, MOST_ON_SHEET);
  const drawings = await readDrawings(
    deps.db,
    annotations.map(({ id }) => id),
  );
  return file(
    await writeSheet(deps, caller, language, title, annotations, drawings),
    'application/pdf',
    'pdf',
  );
}

export const sheetOfPost = handle(exportPostSheet, async (deps, { caller, params, http }) => {
  await checkDiscussed(deps.db, caller, params.id);
  const post = await deps.db
    .selectFrom('posts')
    .select('title')
    .where('id', '=', params.id)
    .executeTakeFirst();
  const language = readerLanguage(caller, http);
  return sheet(deps, caller, language, post?.title || say(language, 'Annotations'), { post: params.id });
});

export const sheetOfAsset = handle(exportAssetSheet, async (deps, { caller, params, http }) => {
  const { title } = await readFile(deps.db, caller, params.id);
  const language = readerLanguage(caller, http);
  return sheet(deps, caller, language, title, { asset: params.id });
});

export const annotatedPdf = handle(exportAnnotatedPdf, async (deps, { caller, params, http }) => {
  await readFile(deps.db, caller, params.id);
  const copy = await writeAnnotatedPdf(deps, caller, readerLanguage(caller, http), params.id);
  return file(copy, 'application/pdf', 'pdf', 'annotated');
});

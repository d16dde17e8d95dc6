import type { Stroke } from '@vitrine/contract/strokes';
import type { Sentence } from '../platform/language/sentence.ts';
import type { PdfComment } from './annotated-pdf/annotate.ts';
import type { SheetContents } from './annotation-sheets/write.ts';
import type { Conversion as CopyForm } from './convert.ts';
import type { Moment } from './flatten.ts';
import type { Rung } from './ladder.ts';
import type { LogoFault, LogoPicture } from './logo.ts';
import type { Entry } from './metadata/fallback-entries.ts';
import type { Rendering } from './render-file.ts';
import type { SourceFile } from './still.ts';
import type { Conversion } from './subtitles/convert.ts';
import type { MadeTiles } from './tiles/make.ts';
import type { Transcoded } from './transcode.ts';

/** The tasks of decoder processes with their inputs and outputs, which are sent as JSON. Paths are absolute. */
export interface DecoderTasks {
  /** Makes the preview ladder and all other renditions in `outDir`, and reads the file's metadata. */
  ladder: {
    input: SourceFile & { rungs: readonly Rung[]; outDir: string };
    output: Rendering;
  };
  /** Does what `ladder` does for several small files, each in a folder of `outDir`; null for files that cannot be rendered. */
  ladders: {
    input: { files: readonly SourceFile[]; rungs: readonly Rung[]; outDir: string };
    output: (Rendering | null)[];
  };
  /** Makes the slow renditions in `outDir` and reports progress. */
  transcode: { input: { path: string; mime: string; outDir: string }; output: Transcoded };
  /** Cuts a picture into tiles, as one file in `outDir`. Returns the reason if it cannot be done. */
  tiles: { input: { path: string; mime: string; outDir: string }; output: MadeTiles | string };
  /** Writes one WebP of at most `edge` pixels to `to`. Returns false if the file cannot be drawn. */
  preview: { input: { path: string; mime: string; edge: number; to: string }; output: boolean };
  /** Returns what a picture looks like, as bits; null for a plain one. */
  print: { input: { path: string }; output: string | null };
  /** Writes a preview to `to` with the text drawn all over it. */
  watermark: { input: { path: string; text: string; to: string }; output: null };
  /** Draws strokes on a picture or a frame. Returns false if there is no such frame. */
  flatten: {
    input: { path: string; mime: string; moment: Moment | null; strokes: readonly Stroke[]; to: string };
    output: boolean;
  };
  /** Draws a whiteboard on white. */
  whiteboard: { input: { strokes: readonly Stroke[]; form: 'svg' | 'png'; to: string }; output: null };
  /** Writes a contact sheet of annotations with the pictures at `path` to `to`, as PDF. */
  annotationSheet: { input: { path: string; contents: SheetContents; to: string }; output: null };
  /** Writes a copy of a PDF with comments as its annotations to `to`. Returns false if it cannot be annotated. */
  annotatedPdf: { input: { path: string; comments: readonly PdfComment[]; to: string }; output: boolean };
  /** Makes a copy of a picture for a download, `copy` in `outDir`. Returns the reason if it cannot be done. */
  convert: {
    input: { path: string; mime: string; form: CopyForm; outDir: string };
    output: Sentence | null;
  };
  /** Returns the kind of a logo file, or the rule that it breaks. */
  logo: { input: { path: string }; output: LogoPicture | LogoFault };
  /** Reads metadata without ExifTool. */
  entries: { input: { path: string }; output: Entry[] };
  /** Returns the seconds of a sound that consists of frames only; null for other files. */
  secondsOfFrames: { input: { path: string }; output: number | null };
  /** Reads the names of a font. */
  fontNames: { input: { path: string }; output: Entry[] };
  /** Writes text subtitles as WebVTT to `to`. */
  subtitles: { input: { path: string; to: string }; output: Conversion };
}

export type DecoderTask = keyof DecoderTasks;

type Perform = {
  [T in DecoderTask]: (
    input: DecoderTasks[T]['input'],
    report: (part: number) => void,
  ) => Promise<DecoderTasks[T]['output']>;
};

// Imports decoders on first use, so that a process that only reads metadata never loads libvips.
const perform: Perform = {
  async ladder({ rungs, outDir, ...file }, report) {
    const { renderFile } = await import('./render-file.ts');
    return renderFile(file, rungs, outDir, report);
  },
  async ladders({ files, rungs, outDir }) {
    const { renderEach } = await import('./render-file.ts');
    return renderEach(files, rungs, outDir);
  },
  async transcode({ path, mime, outDir }, report) {
    const { transcode } = await import('./transcode.ts');
    return transcode({ path, mime }, outDir, report);
  },
  async tiles({ path, mime, outDir }, report) {
    const { makeTiles } = await import('./tiles/make.ts');
    return makeTiles({ path, mime }, outDir, report);
  },
  async preview({ path, mime, edge, to }) {
    const { renderPreview } = await import('./raster.ts');
    return renderPreview({ path, mime }, edge, to);
  },
  async print({ path }) {
    const { printOf } = await import('./print.ts');
    return printOf(path);
  },
  async watermark({ path, text, to }) {
    const { drawWatermark } = await import('./watermark.ts');
    await drawWatermark(path, text, to);
    return null;
  },
  async flatten({ path, mime, moment, strokes, to }) {
    const { flatten } = await import('./flatten.ts');
    return flatten({ path, mime }, moment, strokes, to);
  },
  async whiteboard({ strokes, form, to }) {
    const { drawWhiteboard } = await import('./whiteboard-picture.ts');
    await drawWhiteboard(strokes, form, to);
    return null;
  },
  async annotationSheet({ path, contents, to }) {
    const { writeSheet } = await import('./annotation-sheets/write.ts');
    await writeSheet(path, contents, to);
    return null;
  },
  async annotatedPdf({ path, comments, to }) {
    const { annotatePdf } = await import('./annotated-pdf/annotate.ts');
    return annotatePdf(path, comments, to);
  },
  async convert({ path, mime, form, outDir }) {
    const { convertFile } = await import('./convert.ts');
    const { join } = await import('node:path');
    return convertFile({ path, mime }, form, outDir, join(outDir, 'copy'));
  },
  async logo({ path }) {
    const { readFile } = await import('node:fs/promises');
    const { readLogo } = await import('./logo.ts');
    return readLogo(await readFile(path));
  },
  async entries({ path }) {
    const { readEntries } = await import('./metadata/fallback-entries.ts');
    return readEntries(path);
  },
  async secondsOfFrames({ path }) {
    const { secondsOfFrames } = await import('./audio/frames.ts');
    return secondsOfFrames(path);
  },
  async fontNames({ path }) {
    const { fontNames } = await import('./metadata/font-names.ts');
    return fontNames(path);
  },
  async subtitles({ path, to }) {
    const { convertSubtitles } = await import('./subtitles/convert.ts');
    return convertSubtitles(path, to);
  },
};

/** Runs one task in this process. The task passes progress from 0 to 1 to `report`. */
export function performTask<T extends DecoderTask>(
  task: T,
  input: DecoderTasks[T]['input'],
  report: (part: number) => void,
): Promise<DecoderTasks[T]['output']> {
  return perform[task](input, report);
}

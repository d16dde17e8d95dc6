import { spawn } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../program.ts';

/**
 * Returns the Ghostscript for a setting: a path, unset or empty for the one on PATH, or `off`. Returns null if there is
 * none.
 */
export function locateGhostscript(named: string | undefined): string | null {
  return findProgram(named, 'gs');
}

/**
 * Converts PostScript to PDF in `outDir`. Returns the path, or null if Ghostscript fails. With `-dSAFER` the program
 * can access only its input and its output. It belongs to the decoder's process group, whose limits apply to it.
 */
export async function postscriptToPdf(program: string, path: string, outDir: string): Promise<string | null> {
  const home = join(outDir, 'postscript');
  await mkdir(home);
  const pdf = join(home, 'pages.pdf');
  const args = [
    ...['-dSAFER', '-dBATCH', '-dNOPAUSE', '-dQUIET', '-dNOPROMPT', '-dEPSCrop', '-dLastPage=50'],
    ...['-sDEVICE=pdfwrite', `-sOutputFile=${pdf}`, '-f', path],
  ];
  const { PATH = '', LD_LIBRARY_PATH } = process.env;
  const libraries = LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };
  const env = { PATH, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', TZ: 'UTC', ...libraries };
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(program, args, { cwd: home, env, stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', resolve);
  });
  const made = await stat(pdf).catch(() => null);
  return code === 0 && made !== null && made.size > 0 ? pdf : null;
}

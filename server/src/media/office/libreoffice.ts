import { spawn } from 'node:child_process';
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findProgram } from '../program.ts';

/**
 * Returns the LibreOffice for a setting: a path, unset or empty for the one on PATH, or `off`. Returns null if there is
 * none.
 */
export function locateLibreOffice(named: string | undefined): string | null {
  return findProgram(named, 'soffice');
}

function setting(path: string, name: string, value: string): string {
  return `<item oor:path="/org.openoffice.${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`;
}

/**
 * A profile that never runs macros and never fetches linked content: links are blocked and never updated, and all
 * addresses go through a proxy that does not exist.
 */
const profile = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${[
  setting('Office.Common/Security/Scripting', 'DisableMacrosExecution', 'true'),
  setting('Office.Common/Security/Scripting', 'MacroSecurityLevel', '3'),
  setting('Office.Common/Security/Scripting', 'BlockUntrustedRefererLinks', 'true'),
  setting('Office.Writer/Content/Update', 'Link', '0'),
  setting('Office.Calc/Content/Update', 'Link', '1'),
  setting('Inet/Settings', 'ooInetProxyType', '2'),
  setting('Inet/Settings', 'ooInetHTTPProxyName', '127.0.0.1'),
  setting('Inet/Settings', 'ooInetHTTPProxyPort', '9'),
  setting('Inet/Settings', 'ooInetHTTPSProxyName', '127.0.0.1'),
  setting('Inet/Settings', 'ooInetHTTPSProxyPort', '9'),
].join('')}</oor:items>`;

/**
 * Converts a document to PDF in `outDir`. Returns the path, or null if LibreOffice fails. The program belongs to the
 * decoder's process group, whose limits apply to it.
 */
export async function toPdf(
  program: string,
  { path, extension }: { path: string; extension: string },
  outDir: string,
): Promise<string | null> {
  const home = join(outDir, 'office');
  await mkdir(join(home, 'profile', 'user'), { recursive: true });
  await writeFile(join(home, 'profile', 'user', 'registrymodifications.xcu'), profile);
  // Uses an empty directory, because a document could link to neighbouring files by relative addresses.
  const input = join(home, `document.${extension}`);
  await copyFile(path, input);
  const args = [
    ...['--headless', '--norestore', '--nolockcheck', '--nodefault', '--nologo', '--nofirststartwizard'],
    `-env:UserInstallation=${pathToFileURL(join(home, 'profile'))}`,
    ...['--convert-to', 'pdf', '--outdir', join(home, 'pdf'), input],
  ];
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', TZ: 'UTC', SAL_USE_VCLPLUGIN: 'svp' };
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { cwd: home, env, stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', () => resolve());
  });
  await rm(input);
  const made = await readdir(join(home, 'pdf')).catch(() => []);
  const pdf = made.find((name) => name.endsWith('.pdf'));
  return pdf === undefined ? null : join(home, 'pdf', pdf);
}

import { readVersion } from '../../../platform/version.ts';

/** The folder of an export with what Vitrine needs to continue or to read it. */
export const ownFolder = 'vitrine-export';

export const declaration = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n';

/** Encodes the characters of a path that a manifest cannot have as they are (RFC 8493, 2.1.3). */
function encodePath(path: string): string {
  return path.replaceAll('%', '%25').replaceAll('\n', '%0A').replaceAll('\r', '%0D');
}

export function decodePath(path: string): string {
  return path.replaceAll(/%0A/gi, '\n').replaceAll(/%0D/gi, '\r').replaceAll('%25', '%');
}

export function manifestLine(sha256: string, path: string): string {
  return `${sha256}  ${encodePath(path)}\n`;
}

/** Writes `bag-info.txt`; `bytes` and `files` are those of the payload. */
export function bagInfo(about: { title: string; bytes: number; files: number; at: Date }): string {
  const lines = [
    ['Bag-Software-Agent', `Vitrine ${readVersion()}`],
    ['Bagging-Date', about.at.toISOString().slice(0, 10)],
    ['External-Description', about.title.replaceAll(/\s+/g, ' ')],
    ['Payload-Oxum', `${about.bytes}.${about.files}`],
  ];
  return lines.map(([label, value]) => `${label}: ${value}\n`).join('');
}

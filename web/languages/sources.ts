import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { extract, type Message } from './extract.ts';

const root = join(import.meta.dirname, '../src');

/** Whether a file of the pages can have texts. */
export const hasTexts = (path: string): boolean =>
  /\.(?:svelte|ts)$/.test(path) && !/\.d\.ts$/.test(path) && !path.includes(`${sep}lib${sep}languages${sep}`);

/** Returns all texts of the pages in the order of their files, each once. */
export async function readMessages(): Promise<Message[]> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(hasTexts)
    .sort();
  const found = new Map<string, Message>();
  for (const file of files) {
    const { messages } = await extract(readFileSync(file, 'utf8'), relative(root, file));
    for (const message of messages) if (!found.has(message.key)) found.set(message.key, message);
  }
  return [...found.values()];
}

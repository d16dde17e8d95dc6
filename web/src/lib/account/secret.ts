/** A secret in groups of four, as people copy it by hand. */
export function groupsOfFour(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? '';
}

/** The dark modules of a square code as the data of one SVG path, one unit a module. */
export function darkPath(modules: readonly (readonly boolean[])[]): string {
  return modules.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
}

/** Recovery codes as the text file that is handed to the reader. */
export function recoveryFile(codes: readonly string[], siteName: string, username: string): string {
  const lines = [`${siteName}: recovery codes of ${username}`, 'Each works once.', '', ...codes];
  return `${lines.join('\n')}\n`;
}

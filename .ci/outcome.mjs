// What the outcomes of the tests' first run, and of a second if there was one, say (report.ts writes them).
//   node outcome.mjs again FIRST           the files to run once more, a line each
//   node outcome.mjs count FIRST [SECOND]  "PASSED FAILED"
import { readFileSync } from 'node:fs';

/** More files than this do not fail by chance. */
const FEW = 3;

const [question, ...paths] = process.argv.slice(2);
const [first, second] = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')));

if (question === 'again') {
  const { failedFiles, unhandled } = first;
  if (unhandled === 0 && failedFiles.length <= FEW) for (const { path } of failedFiles) console.log(path);
} else if (second === undefined) {
  console.log(first.passed, first.faults);
} else {
  const passedTwice = first.failedFiles.reduce((sum, file) => sum + file.passed, 0);
  console.log(first.passed - passedTwice + second.passed, second.faults);
}

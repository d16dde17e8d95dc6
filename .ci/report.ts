import { writeFileSync } from 'node:fs';
import { env } from 'node:process';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** What a run of the tests came to. Faults are what failed: tests, and files or the run outside them. */
export interface Outcome {
  readonly passed: number;
  readonly faults: number;
  /** The files with faults, and how many of their tests passed. */
  readonly failedFiles: readonly { readonly path: string; readonly passed: number }[];
  /** Errors that belong to no file: no second run of any file answers them. */
  readonly unhandled: number;
}

/** Writes the outcome to the file that CI_OUTCOME names. A class, since the test runner makes its reporters with `new`. */
export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0;
    let faults = unhandled.length;
    const failedFiles: { path: string; passed: number }[] = [];
    for (const module of modules) {
      const passedHere = [...module.children.allTests('passed')].length;
      const failedHere = [...module.children.allTests('failed')].length;
      passed += passedHere;
      if (module.ok()) continue;
      // A file may fail outside its tests.
      faults += Math.max(1, failedHere);
      failedFiles.push({ path: module.relativeModuleId, passed: passedHere });
    }
    const outcome: Outcome = { passed, faults, failedFiles, unhandled: unhandled.length };
    writeFileSync(env.CI_OUTCOME ?? '', JSON.stringify(outcome));
  }
}

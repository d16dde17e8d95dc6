import { writeFileSync } from 'node:fs';
import { env } from 'node:process';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Writes `PASSED FAILED` to the file that CI_OUTCOME names. Errors outside tests count as failures. A class, because
 * the test runner creates reporters with `new`.
 */
export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      passed += [...module.children.allTests('passed')].length;
      // A file can fail outside its tests.
      if (!module.ok()) failed += Math.max(1, [...module.children.allTests('failed')].length);
    }
    writeFileSync(env.CI_OUTCOME ?? '', `${passed} ${failed}\n`);
  }
}

import { type ChildProcess, spawn } from 'node:child_process';

/** Kills process groups when this process ends, however it ends. */
export interface Guard {
  watch(pid: number): void;
  forget(pid: number): void;
  close(): void;
}

/** Keeps a list from what it reads. Only our end closes the pipe; then every group on the list is killed. */
const script = `
  while read -r what pid; do
    if [ "$what" = watch ]; then groups="$groups $pid"; continue; fi
    left=
    for group in $groups; do [ "$group" = "$pid" ] || left="$left $group"; done
    groups=$left
  done
  for group in $groups; do kill -KILL "-$group"; done`;

/**
 * A decoder that is busy in a library does not notice that we are gone, and neither does a program it started. A shell
 * does: one for all of them, and our own child, so that it leaves no zombie where we are process 1 of a container.
 */
export function openGuard(): Guard {
  let shell: ChildProcess | null = null;
  const start = () => {
    const started = spawn('/bin/sh', ['-c', script, 'vitrine-decoder-guard'], {
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['pipe', 'ignore', 'ignore'],
      // What ends us, such as Ctrl-C in a terminal, must not end it first.
      detached: true,
      cwd: '/',
    });
    started.on('error', () => {});
    started.stdin.on('error', () => {});
    started.unref();
    return started;
  };
  return {
    watch(pid) {
      shell ??= start();
      shell.stdin?.write(`watch ${pid}\n`);
    },
    forget(pid) {
      shell?.stdin?.write(`forget ${pid}\n`);
    },
    close() {
      shell?.stdin?.end();
      shell = null;
    },
  };
}

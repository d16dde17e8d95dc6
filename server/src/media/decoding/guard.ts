import { type ChildProcess, spawn } from 'node:child_process';

/** Kills process groups when this process ends for any reason. */
export interface Guard {
  /** `cell`: a directory that is removed then, too. */
  watch(pid: number, cell: string | null): void;
  forget(pid: number): void;
  close(): void;
}

/**
 * Maintains a list of process groups and their directories from its input. Only the end of this process closes the pipe;
 * the script then kills every listed group and removes its directory.
 */
const script = `
  while read -r what pid cell; do
    if [ "$what" = watch ]; then groups="$groups $pid"; eval "cell_$pid=\\$cell"; continue; fi
    left=
    for group in $groups; do [ "$group" = "$pid" ] || left="$left $group"; done
    groups=$left
  done
  for group in $groups; do kill -KILL "-$group"; done
  for group in $groups; do
    eval "cell=\\$cell_$group"
    [ -z "$cell" ] || rm -rf "$cell" || rm -rf "$cell"
  done`;

/**
 * Starts a shell that kills the decoders when this process ends. A decoder that is busy in a library does not notice
 * the end of its parent, and neither does a program it started. One shell serves all decoders. It is a direct child,
 * so that it leaves no zombie if this process is process 1 of a container.
 */
export function openGuard(): Guard {
  let shell: ChildProcess | null = null;
  const start = () => {
    const started = spawn('/bin/sh', ['-c', script, 'vitrine-decoder-guard'], {
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['pipe', 'ignore', 'ignore'],
      // Detached, so that a signal that ends this process, such as Ctrl-C in a terminal, does not end the guard
      // first.
      detached: true,
      cwd: '/',
    });
    started.on('error', () => {});
    started.stdin.on('error', () => {});
    started.unref();
    return started;
  };
  return {
    watch(pid, cell) {
      shell ??= start();
      shell.stdin?.write(`watch ${pid} ${cell ?? ''}\n`);
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

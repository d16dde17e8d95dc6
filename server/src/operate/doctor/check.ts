import type { Check } from '@vitrine/contract/doctor';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { Storage } from '../../platform/storage/storage.ts';

/** What the doctor needs for its checks. */
export interface DoctorDeps {
  db: Database;
  storage: Storage;
  config: Config;
  /** Directories of programs, like the environment's PATH. */
  searchPath: string;
}

export type Finding = Pick<Check, 'status' | 'detail' | 'remedy'>;

/** One check: its id, its title, and how it is performed. */
export interface Examination {
  code: string;
  title: string;
  look(deps: DoctorDeps): Promise<Finding>;
}

export function passed(detail: string): Finding {
  return { status: 'ok', detail, remedy: null };
}

export function warning(detail: string, remedy: string): Finding {
  return { status: 'warning', detail, remedy };
}

export function problem(detail: string, remedy: string): Finding {
  return { status: 'problem', detail, remedy };
}

/** `1 job`, `2 jobs`. */
export function several(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ConfigError } from '../core/config.ts';
import { sentenceOfError } from '../platform/faults/worded-errors.ts';
import { type Sentence, sentence } from '../platform/language/sentence.ts';

/** Returns what is wrong with the arguments; null for an error that Node does not describe. */
function faultOf(error: unknown): Sentence | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const argument = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
      return sentence('unknown option {option}', { option: argument });
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return sentence('unexpected argument {argument}', { argument });
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE': {
      const option = argument.replace(/ <.*$/, '');
      return error.message.includes('does not take')
        ? sentence('{option} takes no value', { option })
        : sentence('{option} needs a value', { option });
    }
    default:
      return null;
  }
}

/** Reads the arguments of a command. Throws a ConfigError that names the one that is not valid. */
export function readOptions<const Options extends ParseArgsConfig>(
  options: Options,
): ReturnType<typeof parseArgs<Options>> {
  try {
    return parseArgs(options);
  } catch (error) {
    throw new ConfigError(faultOf(error) ?? sentenceOfError(error));
  }
}

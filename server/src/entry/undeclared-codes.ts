import { errorHeader, parseErrorHeader } from '@vitrine/contract/errors/header';
import { codesOf } from '@vitrine/contract/errors/of-operation';
import type { Operation } from '@vitrine/contract/operation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendFault } from '../platform/http/render-error.ts';

/**
 * Returns the error handler of an operation's route. It sends the response for the error, and logs a code that the
 * operation does not declare once (HTTP-44). Clients get the same response as for a declared code.
 */
export function errorHandlerOf(operation: Operation) {
  const declared: ReadonlySet<string> = codesOf(operation);
  const logged = new Set<string>();
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const sent = sendFault(error, request, reply);
    const code = parseErrorHeader(String(reply.getHeader(errorHeader)))?.code;
    if (code !== undefined && !declared.has(code) && !logged.has(code)) {
      logged.add(code);
      request.log.warn({ operation: operation.id, code }, 'the operation does not declare this error code');
    }
    return sent;
  };
}

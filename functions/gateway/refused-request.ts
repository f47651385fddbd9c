import type { ErrorCode } from "../../sdk/schema/error-codes.ts";
import { SpotterError, type SpotterErrorParams } from "../../sdk/schema/errors.ts";

/** What OpenAI's clients are told beside the message. */
export interface OpenAiFacts {
  /** OpenAI's name for what is wrong; null where it has none. */
  code: string | null;
  /** Default: by the status. */
  type?: string;
  headers?: Record<string, string>;
}

/** A request that is refused in OpenAI's own words: one code of ours can have several of theirs. */
export class RefusedRequest extends SpotterError {
  readonly openAi: OpenAiFacts;

  constructor(code: ErrorCode, message: string, openAi: OpenAiFacts, params: SpotterErrorParams = {}) {
    super(code, message, params);
    this.openAi = openAi;
  }
}

/** A body that does not fit: status 400. `param` is the path of the field, as in `messages[1].role`. */
export function badRequest(code: string | null, param: string | undefined, message: string): RefusedRequest {
  return new RefusedRequest("invalid_input", message, { code }, { where: param });
}

import { Tokenizer } from "@huggingface/tokenizers";

/** What is used of the library's tokenizer; its own declarations do not resolve under `nodenext`. */
export interface HubTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(ids: number[]): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
}

export const HubTokenizer = Tokenizer as unknown as new (tokenizer: object, config: object) => HubTokenizer;

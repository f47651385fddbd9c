/**
 * A dataset of one's own: conversations of two questions, made by asking.
 *
 * @module
 */
import { Dataset, type Endpoint, type FormattedRow, type Row } from "spotter";

/**
 * Conversations whose second question speaks of the first: only who remembers knows what "it" is. Nobody has such
 * rows, so an endpoint is asked for them: the first answer of each conversation is its own. The same endpoint and
 * topics give the same rows.
 */
export class Conversations extends Dataset {
  override inputColumn = "topic";
  override promptTemplate = "Say {input}.";
  readonly #endpoint: Endpoint;
  readonly #topics: readonly string[];

  constructor(endpoint: Endpoint, topics: readonly string[]) {
    super({ name: "conversations" });
    this.#endpoint = endpoint;
    this.#topics = topics;
  }

  /** Rows of { topic, said }. An endpoint answers many at a time, so all are asked for at once. */
  override async *rows(): AsyncIterable<Row> {
    const asked = this.#topics.map(async (topic) => {
      const reply = await this.#endpoint.chat([this.#ask(topic)], { max_tokens: 8, temperature: 0 });
      return { topic, said: reply.content };
    });
    yield* await Promise.all(asked);
  }

  /** The whole conversation is the prompt; what is learnt is the answer to its last question. */
  override format({ topic, said }: Row): FormattedRow {
    return {
      prompt: [
        this.#ask(String(topic)),
        { role: "assistant", content: String(said) },
        { role: "user", content: "Write a haiku about it." },
      ],
    };
  }

  #ask(topic: string) {
    return { role: "user" as const, content: this.promptTemplate.replace("{input}", topic) };
  }
}

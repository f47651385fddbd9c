interface Message {
  [key: string]: unknown;
}

/** The messages, those of the model without what it thought before it said them. */
export function withoutThinking<T extends Message>(messages: readonly T[]): T[] {
  return messages.map((message) => {
    if (!hasThought(message)) return message;
    const { reasoning_content: _, ...said } = message;
    return said as unknown as T;
  });
}

export function hasThought({ reasoning_content: thought }: Message): boolean {
  return thought !== undefined;
}

import { commands, jsonLines, smallTraining, type Template, user } from "./template.ts";

const ROLLOUT = `  max_turns: 3 # a move is a turn; the longest game here takes three
  max_context_window: 1024
  termination_policy: last_tool # whoever stops moving has given up
  reasoning_mode: disabled
  tool_timeout: 10`;

const TOOLS = `import { tool } from "spotter";

interface Move {
  pile: number;
  stones: number;
}

/** The other player: takes as many as loses least, always the same. */
export const move = tool<Move>(
  {
    description: "Take 1, 2 or 3 stones from the pile. The other player moves next.",
    parameters: {
      type: "object",
      properties: {
        pile: { type: "integer", minimum: 1, description: "stones on the pile before the move" },
        stones: { type: "integer", minimum: 1, maximum: 3, description: "how many to take" },
      },
      required: ["pile", "stones"],
    },
  },
  ({ pile, stones }) => {
    if (!Number.isInteger(stones) || stones < 1 || stones > 3 || stones > pile)
      return { pile, illegal: "take 1, 2 or 3 stones, and no more than there are" };
    const left = pile - stones;
    if (left === 0) return { pile: 0, winner: "you" };
    const answer = Math.min(left, left % 4 === 0 ? 1 : left % 4);
    return { took: answer, pile: left - answer, ...(left === answer && { winner: "me" }) };
  },
);
`;

const REWARDS = `import { reward } from "spotter";

interface Reply {
  pile: number;
  illegal?: string;
  winner?: string;
}

/** The moves of a conversation with what they were answered, as far as they follow the rules. */
function played(messages: { role: string }[], start: number): Reply[] {
  const replies: Reply[] = [];
  let pile = start;
  for (const message of messages) {
    const { role, tool_calls: calls = [], content } = message as {
      role: string;
      tool_calls?: { function: { arguments: string } }[];
      content: string;
    };
    // Of several calls in one turn, or of a pile that is not the one on the table, none counts.
    if (role === "assistant" && calls.length > 0) {
      const [call] = calls;
      if (calls.length > 1 || !call || told(call.function.arguments) !== pile) break;
    }
    if (role !== "tool") continue;
    const reply = JSON.parse(content) as Reply;
    if (typeof reply.pile !== "number" || reply.illegal !== undefined) break;
    replies.push(reply);
    pile = reply.pile;
  }
  return replies;
}

function told(text: string): unknown {
  try {
    return (JSON.parse(text) as { pile?: unknown }).pile;
  } catch {
    return undefined;
  }
}

/** 1 for a game that was won. */
export const won = reward(({ variables }, messages) =>
  played(messages, Number(variables.pile)).at(-1)?.winner === "you" ? 1 : 0,
);

/** Something for playing by the rules at all, so that there is something to learn from before the first win. */
export const legal = reward({ weight: 0.2 }, ({ variables }, messages) =>
  played(messages, Number(variables.pile)).length > 0 ? 1 : 0,
);
`;

/** Piles from which whoever begins can win: those of four, eight, twelve and so on are lost. */
const PILES = [5, 6, 7, 9, 10, 11];

/** Reinforcement learning over several turns against an opponent. */
export const game: Template = {
  description: "reinforcement learning: a game of several turns, won or lost at its end",
  files: (title) => ({
    "config.yml": smallTraining(title, ROLLOUT),
    "train.jsonl": jsonLines(
      PILES.map((pile) => ({
        messages: [
          user(
            "There are $pile stones. We take 1, 2 or 3 in turn; who takes the last one wins. You begin: call move until the game is over.",
          ),
        ],
        rewards: ["won", "legal"],
        variables: { pile },
      })),
    ),
    "rewards.ts": REWARDS,
    "tools.ts": TOOLS,
    "README.md": `# ${title}

A game of several turns: the model calls \`move\`, the tool answers with the move of the other player. Nothing is kept
between the calls, so each names the pile that it moves from; rewards.ts replays the conversation and counts only moves
from the pile that is on the table. Every pile of train.jsonl can be won.

${commands()}`,
  }),
};

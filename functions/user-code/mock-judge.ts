import { mockJudgement } from "../../sdk/schema/mock-judge.ts";

/** The address that the mock judge is asked at: nobody listens there, see {@link mockJudge}. */
export const MOCK_JUDGE_URL = "http://mock.invalid/v1";

/** In the place of a server that judges. */
export const mockJudge: typeof fetch = (_url, init) =>
  Promise.resolve(Response.json(mockJudgement(JSON.parse(init?.body as string))));

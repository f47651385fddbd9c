import { AxeBuilder } from "@axe-core/playwright";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listening } from "../fakes/listening.ts";
import { findChromium, openBrowser } from "./chromium.ts";
import { openGym, STEPS, type Gym } from "./gym.ts";

const chromium = findChromium();
if (chromium === undefined) {
  process.stderr.write(
    "test/browser is skipped: there is no Chromium. `apt-get install chromium` brings it.\n",
  );
}

describe.skipIf(chromium === undefined)("the pages in a browser", () => {
  const ends: (() => Promise<void>)[] = [];
  /** What the browser complains about; refused by the security policy, above all. */
  const complaints: string[] = [];
  let gym: Gym;
  let url: string;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    gym = await openGym((end) => void ends.push(end));
    url = await listening(gym.plane, (end) => void ends.push(end));
    const browser = await openBrowser(chromium ?? "");
    ends.push(browser.close);
    context = browser.context;
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(await signInLink());
    await page.waitForURL(`${url}/ui`);
  }, 60_000);

  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  async function signInLink(): Promise<string> {
    const link = await gym.plane.json<{ url: string }>("POST", "/ui-codes", {});
    return link.url.replace(/^http:\/\/[^/]+/, url);
  }

  const runPath = () => `${url}/ui/runs/${gym.run.id}`;

  it("sign in by a one-time code, and keep the cookie from scripts", async () => {
    const [cookie] = await context.cookies(`${url}/ui`);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/ui" });
    await page.goto(url);
    expect(page.url()).toBe(`${url}/ui`);
    expect(await page.evaluate("document.cookie")).toBe("");
  });

  it("list runs and endpoints, and keep the list current", async () => {
    await page.goto(`${url}/ui`);
    const row = page.locator("tr", { hasText: "haiku" });
    await row.getByText("running").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const step = await gym.step();
    await row.getByText(`${step}/${STEPS}`).waitFor();
    await gym.plane.json("POST", "/endpoints", { model: { name: "/models/new" }, name: "fresh" });
    await page.getByRole("link", { name: "fresh" }).waitFor();
  });

  it("draw a run's curves, and go on drawing", async () => {
    await page.goto(runPath());
    const reward = page.getByRole("img", { name: /^Reward from step 1/ });
    await reward.locator("canvas").waitFor();
    const before = Number(await reward.getAttribute("data-points"));
    expect(before).toBeGreaterThanOrEqual(24);
    expect(await hasInk(page)).toBe(true);
    await gym.step();
    await page
      .locator(`.plot[data-points="${before + 1}"]`)
      .first()
      .waitFor();
    await page.getByText("about", { exact: false }).first().waitFor();
    await page.getByText(/^All metrics/).click();
    await page
      .getByRole("img", { name: /^entropy/ })
      .locator("canvas")
      .waitFor();
  });

  it("show the rollouts of a step with scores and reasons, sorted and filtered", async () => {
    await page.goto(runPath());
    const first = page.locator(".rollout").first();
    const step = page.getByRole("combobox", { name: "Step" });
    const total = async (which = first) => Number(await which.locator(".total").innerText().then(digits));
    await first.waitFor();
    const best = await total();
    await page.getByLabel("Sort").selectOption("worst");
    await expect.poll(() => total()).toBeLessThan(best);
    await page.getByRole("spinbutton", { name: "Reward from" }).fill(String(best));
    await expect.poll(() => total()).toBe(best);
    expect(await first.innerText()).toMatch(/haiku[\s\S]*4 \/ 7 \/ 5 syllables/);
    await page.getByRole("spinbutton", { name: "Reward from" }).fill("");
    await step.selectOption("2");
    await expect.poll(() => total()).toBeLessThan(-7);
    await page.getByRole("button", { name: "Next step" }).click();
    await expect.poll(() => step.inputValue()).toBe("3");
    await page.getByRole("button", { name: /^Show \d+ more/ }).click();
    await page.getByText("reward_timeout").waitFor();
    // A step that was chosen stays, whatever the run does.
    await gym.step();
    expect(await step.inputValue()).toBe("3");
  });

  it("show logs, and what the container wrote", async () => {
    await page.goto(runPath());
    await page.getByText("attempt 1: training spotter/nano").waitFor();
    await page.getByText("Container output").click();
    await page.getByText(`line of train-${gym.run.id}-a1`).waitFor();
  });

  it("launch an endpoint for a checkpoint and lead to its chat", async () => {
    await page.goto(runPath());
    await page.getByRole("button", { name: "Chat with it, step 10" }).click();
    await page.waitForURL(`${url}/ui/endpoints/*`);
    await page.getByRole("link", { name: `${gym.run.id}@10` }).waitFor();
    await page.getByLabel("Message").waitFor();
  });

  it("chat as the answer streams, by keyboard alone", async () => {
    await page.goto(`${url}/ui/endpoints/base`);
    await page.getByRole("button", { name: "Send" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send" }).isEnabled()).toBe(true);
    await page.getByLabel("Message").focus();
    await page.keyboard.type("Write a haiku about <b>rain</b>.");
    await page.keyboard.press("Enter");
    const log = page.getByRole("log");
    await log.getByText("Write a haiku about <b>rain</b>.").waitFor();
    await expect.poll(() => gym.canSay()).toBe(true);
    gym.say("Rain upon ");
    await log.getByText("Rain upon").waitFor();
    expect(await log.getAttribute("aria-busy")).toBe("true");
    gym.say("<img src=x onerror=alert(1)>");
    gym.say("");
    await log.getByText("Rain upon <img src=x onerror=alert(1)>").waitFor();
    await expect.poll(() => log.getAttribute("aria-busy")).toBe("false");
    await page.getByRole("button", { name: "Clear" }).click();
    await log.getByText("Nothing said yet").waitFor();
  });

  it("stop an answer, and say what went wrong with one", async () => {
    await page.goto(`${url}/ui/endpoints/base`);
    await page.getByLabel("Message").fill("Hi");
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => gym.canSay()).toBe(true);
    gym.say("Never");
    await page.getByText("Never").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).last().click();
    await page.getByText("stopped").waitFor();
  });

  it("pause a run, and tell what it does until then", async () => {
    await page.goto(runPath());
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("saving, then it pauses").waitFor();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
  });

  it("launch an eval from its form, and lead to it", async () => {
    await page.goto(`${url}/ui/evals`);
    await page.getByRole("link", { name: "New eval" }).click();
    await page.getByLabel("Rows and rewards of").selectOption({ label: `run haiku (${gym.run.id}), 3 rows` });
    await page.getByLabel("Who answers").fill("base");
    await page.getByLabel("Name").fill("poems <today>");
    await page.getByLabel("4", { exact: true }).check();
    await page.getByRole("button", { name: "Launch" }).click();
    await page.getByRole("heading", { name: "poems <today>" }).waitFor();
    await page.getByText("0/12 answers").waitFor();
  });

  it.each(["light", "dark"] as const)("are usable by everyone, and fit 390 px (%s)", async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    for (const path of ["/ui", `/ui/runs/${gym.run.id}`, "/ui/endpoints/base", "/ui/evals/new"]) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(url + path);
      const isForm = path === "/ui/evals/new";
      if (!isForm) await page.getByText("Live", { exact: true }).waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
      if (path !== "/ui" && !isForm) await page.locator("summary").first().click();
      // One rollout is like another; looking at all of them takes most of the test's time.
      const axe = new AxeBuilder({ page }).exclude(".rollout:nth-child(n+3)");
      axe.options({ resultTypes: ["violations"] });
      // Colours are all that differs in the dark.
      if (colorScheme === "dark") axe.withRules(["color-contrast"]);
      const { violations } = await axe.analyze();
      const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect(grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(1280);
    }
  });

  it("give the browser nothing to complain about", () => {
    expect(complaints).toEqual([]);
  });
});

/** Whether something is drawn on the first chart. */
function hasInk(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const canvas = document.querySelector(".plot canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value !== 0);
  })()`);
}

function digits(text: string): string {
  return text.replaceAll(/[^\d.-]/g, "");
}
